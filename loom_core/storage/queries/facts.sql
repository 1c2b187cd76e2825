-- aliases --
SELECT alias, argMax(entity, (at, event_id)) AS leads_to
FROM loom.entity_aliases
WHERE org = {org:String} AND namespace = {namespace:String} AND alias IN {names:Array(String)}
GROUP BY alias
HAVING leads_to != ''

-- known --
SELECT DISTINCT entity
FROM
(
    SELECT entity FROM loom.entity_adjacency FINAL
    PREWHERE org = {org:String} AND namespace = {namespace:String} AND entity IN {names:Array(String)}
    UNION ALL
    SELECT entity FROM loom.entity_triple_adjacency FINAL
    PREWHERE org = {org:String} AND namespace = {namespace:String} AND entity IN {names:Array(String)}
    UNION ALL
    SELECT entity FROM loom.entity_canonical_map FINAL
    WHERE org = {org:String} AND namespace = {namespace:String} AND entity IN {names:Array(String)}
)

-- top_triples --
WITH fromUnixTimestamp64Micro({at:Int64}, 'UTC') AS at
SELECT subject, relation, object, count() AS co_occur, max(arrival) AS last_seen
FROM loom.entity_triples FINAL
PREWHERE org = {org:String} AND namespace = {namespace:String}
     AND ({subject:String} = '' OR subject = {subject:String})
     AND ({relation:String} = '' OR relation = {relation:String})
WHERE ({object:String} = '' OR object = {object:String})
  AND (empty({provenance:Array(String)}) OR provenance IN {provenance:Array(String)})
  AND valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at)
GROUP BY subject, relation, object
HAVING co_occur >= {min_co_occur:UInt64}
ORDER BY if({recency:UInt8}, toUnixTimestamp64Micro(last_seen), toInt64(co_occur)) DESC,
         if({recency:UInt8}, toInt64(co_occur), toUnixTimestamp64Micro(last_seen)) DESC,
         subject, relation, object
LIMIT {limit:UInt64}

-- top_triples_of --
WITH fromUnixTimestamp64Micro({at:Int64}, 'UTC') AS at
SELECT if(direction = 'out', entity, neighbour) AS subject, relation, if(direction = 'out', neighbour, entity) AS object,
       count() AS co_occur, max(arrival) AS last_seen
FROM loom.entity_triple_adjacency FINAL
PREWHERE org = {org:String} AND namespace = {namespace:String} AND entity = {entity:String}
WHERE direction IN {directions:Array(String)}
  AND (direction = 'out' OR entity != neighbour OR length({directions:Array(String)}) = 1)
  AND ({relation:String} = '' OR relation = {relation:String})
  AND (empty({provenance:Array(String)}) OR provenance IN {provenance:Array(String)})
  AND valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at)
GROUP BY subject, relation, object
HAVING co_occur >= {min_co_occur:UInt64} AND ({subject:String} = '' OR subject = {subject:String})
ORDER BY if({recency:UInt8}, toUnixTimestamp64Micro(last_seen), toInt64(co_occur)) DESC,
         if({recency:UInt8}, toInt64(co_occur), toUnixTimestamp64Micro(last_seen)) DESC,
         subject, relation, object
LIMIT {limit:UInt64}

-- triples --
WITH
    fromUnixTimestamp64Micro({at:Int64}, 'UTC') AS at,
    toDateTime64('2299-12-31 23:59:59.999999', 6, 'UTC') AS never
SELECT subject, relation, object, count() AS co_occur, max(t.confidence) AS most_confident,
       argMax((adapter_name, provenance), (t.confidence, arrival, memory_id)) AS told_by,
       min(arrival) AS first_seen, max(arrival) AS last_seen, min(valid_from) AS since,
       argMax((t.valid_to, t.invalid_at), (least(ifNull(t.valid_to, never), ifNull(t.invalid_at, never)),
                                           ifNull(t.valid_to, never), ifNull(t.invalid_at, never))) AS until
FROM loom.entity_triples AS t FINAL
PREWHERE org = {org:String} AND namespace = {namespace:String}
     AND (subject, relation, object) IN {triples:Array(Tuple(String, String, String))}
WHERE (empty({provenance:Array(String)}) OR provenance IN {provenance:Array(String)})
  AND valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at)
GROUP BY subject, relation, object

-- sources --
WITH fromUnixTimestamp64Micro({at:Int64}, 'UTC') AS at
SELECT subject, relation, object, memory_key, argMax((memory_id, invalid_at), (arrival, memory_id)) AS newest
FROM loom.entity_triples FINAL
PREWHERE org = {org:String} AND namespace = {namespace:String}
     AND (subject, relation, object) IN {triples:Array(Tuple(String, String, String))}
WHERE (empty({provenance:Array(String)}) OR provenance IN {provenance:Array(String)})
  AND valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at)
GROUP BY subject, relation, object, memory_key
ORDER BY subject, relation, object, max(arrival) DESC, memory_key
LIMIT {skip:UInt64}, {limit:UInt64} BY subject, relation, object

-- related --
WITH
    fromUnixTimestamp64Micro({at:Int64}, 'UTC') AS at,
    toDateTime64('2299-12-31 23:59:59.999999', 6, 'UTC') AS never
SELECT neighbour, uniqExact(memory_key) AS co_occur,
       max(side = 'out') AS as_subject, max(side = 'in') AS as_object,
       arraySort(groupUniqArrayIf(relation, relation != '')) AS relations,
       min(valid_from) AS since,
       argMax(tuple(valid_to), (least(ifNull(valid_to, never), ifNull(invalid_at, never)),
                                ifNull(valid_to, never))).1 AS until
FROM
(
    SELECT neighbour, memory_key, '' AS relation, '' AS side, valid_from, valid_to, invalid_at
    FROM loom.entity_adjacency FINAL
    PREWHERE org = {org:String} AND namespace = {namespace:String} AND entity = {entity:String}
    WHERE valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at)
    UNION ALL
    SELECT neighbour, memory_key, relation, toString(direction), valid_from, valid_to, invalid_at
    FROM loom.entity_triple_adjacency FINAL
    PREWHERE org = {org:String} AND namespace = {namespace:String} AND entity = {entity:String}
    WHERE neighbour != entity
      AND valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at)
)
GROUP BY neighbour
ORDER BY co_occur DESC, neighbour
LIMIT {limit:UInt64}
