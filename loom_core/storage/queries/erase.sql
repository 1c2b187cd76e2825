-- unfinished --
SELECT erase_id, key_hash, memory_ids, step, counts, at, answer_keys
FROM loom.erasures FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND step != {swept:String}
ORDER BY at, erase_id

-- key_of_hash --
SELECT memory_key
FROM loom.memory
WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}
LIMIT 1

-- triples --
SELECT DISTINCT subject, relation, object
FROM
(
    SELECT subject, relation, object FROM loom.slot_statements
    WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}
    UNION ALL
    SELECT subject, relation, object FROM loom.entity_triple_rows
    WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}
)

-- entities --
SELECT DISTINCT entity
FROM
(
    SELECT entity FROM loom.entity_canonical_map
    WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}
    UNION ALL
    SELECT arrayJoin([entity_a, entity_b]) FROM loom.entity_edge_rows
    WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}
)

-- still_mentioned --
SELECT DISTINCT entity
FROM loom.entity_canonical_map FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND entity IN {entities:Array(String)}

-- superseded --
SELECT DISTINCT key_hash, memory_key, memory_id
FROM loom.memory_events FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND kind = 'supersede'
  AND memory_id IN {ids:Array(String)}

-- events_of_key --
SELECT event_id
FROM loom.memory_events
WHERE org = {org:String} AND namespace = {namespace:String} AND key_hash = {key_hash:String}

-- count_by_row --
SELECT count()
FROM loom.{table}
WHERE org = {{org:String}} AND namespace = {{namespace:String}} AND memory_id IN {{ids:Array(String)}}

-- by_row --
ALTER TABLE loom.{table} DELETE
WHERE org = {{org:String}} AND namespace = {{namespace:String}} AND memory_id IN {{ids:Array(String)}}

-- by_unit --
ALTER TABLE loom.{table} DELETE
WHERE org = {{org:String}} AND namespace = {{namespace:String}} AND unit_id IN {{units:Array(String)}}

-- by_entity --
ALTER TABLE loom.{table} DELETE
WHERE org = {{org:String}} AND namespace = {{namespace:String}} AND entity IN {{entities:Array(String)}}

-- events --
ALTER TABLE loom.memory_events DELETE
WHERE org = {org:String} AND namespace = {namespace:String} AND key_hash = {key_hash:String}
  AND kind != 'erase' AND at <= fromUnixTimestamp64Micro({until:Int64})

-- links --
ALTER TABLE loom.memory_links DELETE
WHERE org = {org:String} AND namespace = {namespace:String}
  AND (from_key = {memory_key:String} OR to_key = {memory_key:String})

-- answers --
ALTER TABLE loom.idempotency_answers DELETE
WHERE org = {org:String} AND namespace = {namespace:String} AND has(memory_keys, {memory_key:String})

-- from_hubs --
ALTER TABLE loom.community_passes
UPDATE dropped = arrayFilter(hub -> NOT has({entities:Array(String)}, hub), dropped)
WHERE org = {org:String} AND namespace = {namespace:String} AND hasAny(dropped, {entities:Array(String)})
