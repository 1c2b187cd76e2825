-- mark --
SELECT max(mark), now64(6, 'UTC')
FROM loom.work_marks
WHERE org = {org:String} AND namespace = {namespace:String} AND worker = {worker:String}

-- orphans --
SELECT unit_id, kind, memory_key, memory_id, landed
FROM
(
    SELECT memory_id AS unit_id, 'row' AS kind, memory_key, memory_id, min(landed_at) AS landed
    FROM loom.memory
    WHERE org = {org:String} AND namespace = {namespace:String}
      AND landed_at >= fromUnixTimestamp64Micro({since:Int64}) AND landed_at <= fromUnixTimestamp64Micro({until:Int64})
    GROUP BY memory_id, memory_key
    UNION ALL
    SELECT event_id, 'event', any(memory_key), any(memory_id), min(landed_at)
    FROM loom.memory_events
    WHERE org = {org:String} AND namespace = {namespace:String} AND kind != 'erase'
      AND landed_at >= fromUnixTimestamp64Micro({since:Int64}) AND landed_at <= fromUnixTimestamp64Micro({until:Int64})
    GROUP BY event_id
    UNION ALL
    SELECT concat('x:', memory_id), 'extraction', any(memory_key), memory_id, min(landed_at)
    FROM loom.memory_extractions
    WHERE org = {org:String} AND namespace = {namespace:String}
      AND landed_at >= fromUnixTimestamp64Micro({since:Int64}) AND landed_at <= fromUnixTimestamp64Micro({until:Int64})
    GROUP BY memory_id
    UNION ALL
    SELECT concat('batch:', batch_id), 'degree', '', any(memory_id), min(landed_at)
    FROM loom.degree_units
    WHERE org = {org:String} AND namespace = {namespace:String}
      AND landed_at >= fromUnixTimestamp64Micro({since:Int64}) AND landed_at <= fromUnixTimestamp64Micro({until:Int64})
    GROUP BY batch_id
)
WHERE unit_id NOT IN
(
    SELECT unit_id
    FROM loom.projection_receipts
    WHERE org = {org:String} AND namespace = {namespace:String}
      AND done_at >= fromUnixTimestamp64Micro({since:Int64}) - INTERVAL 1 HOUR
    GROUP BY unit_id
    HAVING has(groupUniqArray(`projection`), 'all') OR startsWith(unit_id, 'batch:')
)
AND unit_id NOT IN
(
    SELECT unit_id
    FROM loom.memory_projection_failures FINAL
    WHERE org = {org:String} AND namespace = {namespace:String} AND state IN ('open', 'dead')
)
ORDER BY landed, unit_id
LIMIT {limit:UInt32}
