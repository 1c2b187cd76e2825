-- consolidated --
SELECT org, namespace
FROM
(
    SELECT org, namespace, argMax(payload, (at, event_id)) AS latest
    FROM loom.namespace_events FINAL
    WHERE kind = 'configure' AND JSONHas(payload, 'consolidation')
    GROUP BY org, namespace
)
WHERE JSONExtractBool(latest, 'consolidation')

-- walked --
SELECT DISTINCT org, namespace
FROM loom.namespace_walks
WHERE day >= toDate({since:String})

-- looked_at --
SELECT org, namespace
FROM loom.work_marks
WHERE worker = {worker:String}
GROUP BY org, namespace
HAVING max(mark) > {since:DateTime64(6, 'UTC')}

-- state --
SELECT count(), groupBitXor(sipHash64(entity_a, entity_b, memory_id, span)),
       sum(cityHash64(entity_a, entity_b, memory_id, span)), uniqCombined(entity_a, entity_b)
FROM loom.entity_edges FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND valid_from <= {now:DateTime64(6, 'UTC')}
  AND (valid_to IS NULL OR {now:DateTime64(6, 'UTC')} < valid_to)
  AND (invalid_at IS NULL OR {now:DateTime64(6, 'UTC')} < invalid_at)
SETTINGS max_execution_time = 300

-- current_pass --
SELECT pass_id, graph_hash
FROM loom.community_passes FINAL
WHERE org = {org:String} AND namespace = {namespace:String}

-- names_and_hashes --
SELECT uniqExact(entity), uniqExact(halfMD5(concat({prefix:String}, entity)))
FROM loom.entity_adjacency
WHERE org = {org:String} AND namespace = {namespace:String}
SETTINGS max_execution_time = 300

-- edges --
SELECT halfMD5(concat({prefix:String}, entity_a)) AS a, halfMD5(concat({prefix:String}, entity_b)) AS b,
       sum(co_occur) AS weight
FROM loom.entity_edges FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND valid_from <= {now:DateTime64(6, 'UTC')}
  AND (valid_to IS NULL OR {now:DateTime64(6, 'UTC')} < valid_to)
  AND (invalid_at IS NULL OR {now:DateTime64(6, 'UTC')} < invalid_at)
GROUP BY entity_a, entity_b
SETTINGS optimize_aggregation_in_order = 1, max_execution_time = 300

-- names --
SELECT halfMD5(concat({prefix:String}, entity)) AS hash, entity
FROM loom.entity_adjacency
WHERE org = {org:String} AND namespace = {namespace:String}
GROUP BY org, namespace, entity
SETTINGS optimize_aggregation_in_order = 1, max_execution_time = 300

-- prune --
DELETE FROM loom.entity_communities
WHERE org = {org:String} AND namespace = {namespace:String} AND pass_id < {before:String}
  AND pass_id NOT IN {kept:Array(String)}
