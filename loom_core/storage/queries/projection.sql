-- stored_edges --
SELECT memory_id, entity_a, entity_b, span, valid_from, valid_to, invalid_at
FROM loom.entity_edge_rows FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}

-- stored_mentions --
SELECT memory_id, mention, entity, entity_type
FROM loom.entity_canonical_map FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}

-- stored_facts --
SELECT memory_id, entity, attribute, position, value, unit, date, adapter_name
FROM loom.derived_facts FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}

-- stored_statements --
SELECT memory_id, subject, relation, object, position, own_start, own_end, past, confidence, adapter_name,
       provenance, history, gone
FROM loom.slot_statements FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}

-- slot_statements --
SELECT subject, relation, object, memory_id, position, memory_key, own_start, own_end, past, confidence,
       adapter_name, provenance, value_sha256, history, ver, gone
FROM loom.slot_statements FINAL
WHERE org = {{org:String}} AND namespace = {{namespace:String}} AND {key} IN {{slots:{type}}}

-- slot_intervals --
SELECT subject, relation, object, memory_id, span, memory_key, value_sha256, confidence, adapter_name, provenance,
       valid_from, valid_to, invalid_at, arrival
FROM loom.entity_triples FINAL
WHERE org = {{org:String}} AND namespace = {{namespace:String}} AND {key} IN {{slots:{type}}}

-- slot_epochs --
SELECT slot_hash, count()
FROM loom.slot_epochs FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND slot_hash IN {hashes:Array(String)}
GROUP BY slot_hash

-- slots_of_relations --
SELECT DISTINCT subject, relation, object
FROM loom.slot_statements FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND relation IN {relations:Array(String)}

-- all_slots --
SELECT DISTINCT subject, relation, object
FROM loom.slot_statements FINAL
WHERE org = {org:String} AND namespace = {namespace:String}
  AND ({subject:String} = '' OR subject = {subject:String}) AND landed_at >= fromUnixTimestamp64Micro({since:Int64})
ORDER BY subject, relation, object

-- generation --
SELECT maxIf(generation, state = 'current'),
       maxIf(generation, state = 'opening' AND at >= fromUnixTimestamp64Micro({alive:Int64}))
FROM loom.degree_generations FINAL
WHERE org = {org:String} AND namespace = {namespace:String}

-- units_of_rows --
SELECT memory_id, seq, batch_id, generation, entities, amounts, ver
FROM loom.degree_units FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}
ORDER BY memory_id, seq, batch_id

-- doubled_units --
SELECT DISTINCT memory_id
FROM
(
    SELECT memory_id, seq
    FROM loom.degree_units
    WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}
    GROUP BY memory_id, seq
    HAVING min(batch_id) != max(batch_id)
)

-- units_of_batches --
SELECT memory_id, seq, batch_id, generation, entities, amounts, ver
FROM loom.degree_units FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND batch_id IN {batches:Array(String)}
ORDER BY batch_id, memory_id, seq

-- batches_since --
SELECT uniqExact(batch_id)
FROM loom.degree_units
WHERE landed_at >= (
    SELECT min(landed_at) FROM loom.degree_units
    WHERE org = {org:String} AND namespace = {namespace:String} AND batch_id = {batch:String}
)

-- counted_batches --
SELECT batch_id
FROM loom.degree_generation_batches FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND generation = {generation:UInt32}
  AND batch_id IN {batches:Array(String)}

-- drop_unit --
DELETE FROM loom.degree_units
WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id = {memory_id:String}
  AND seq = {seq:UInt32} AND batch_id = {batch:String}

-- receipted --
SELECT DISTINCT unit_id
FROM loom.projection_receipts
WHERE org = {org:String} AND namespace = {namespace:String} AND unit_id IN {ids:Array(String)}
  AND `projection` = {projection:String}
