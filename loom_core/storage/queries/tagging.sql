-- untagged --
SELECT memory_id, key, landed
FROM
(
    SELECT memory_id, any(memory_key) AS key, min(landed_at) AS landed, min(arrival) AS arrived
    FROM loom.memory
    WHERE org = {org:String} AND namespace = {namespace:String}
      AND landed_at >= fromUnixTimestamp64Micro({since:Int64}) AND landed_at <= fromUnixTimestamp64Micro({until:Int64})
      AND entities_given = 0 AND sensitivity = 'normal'
    GROUP BY memory_id
) AS rows
LEFT JOIN
(
    SELECT memory_key AS key, max(arrival) AS hidden_until
    FROM loom.memory
    WHERE org = {org:String} AND namespace = {namespace:String} AND sensitivity = 'high'
    GROUP BY memory_key
) AS high USING (key)
WHERE arrived > hidden_until
  AND memory_id NOT IN
  (
      SELECT memory_id
      FROM loom.memory_extractions
      WHERE org = {org:String} AND namespace = {namespace:String}
        AND landed_at >= fromUnixTimestamp64Micro({since:Int64})
  )
  AND memory_id NOT IN
  (
      SELECT memory_id
      FROM loom.memory_projection_failures FINAL
      WHERE org = {org:String} AND namespace = {namespace:String} AND `projection` = 'extraction'
  )
  AND memory_id NOT IN
  (
      SELECT arrayJoin(erased_ids)
      FROM loom.memory_events
      WHERE org = {org:String} AND namespace = {namespace:String} AND kind = 'erase'
  )
ORDER BY landed, arrived, memory_id
LIMIT {limit:UInt32}

-- values_before --
SELECT value
FROM loom.memory FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND session_id = {session:String}
  AND arrival < fromUnixTimestamp64Micro({before:Int64}) AND sensitivity = 'normal'
ORDER BY arrival DESC
LIMIT {limit:UInt32}

-- spent --
SELECT sum(cost_usd)
FROM loom.llm_spend FINAL
WHERE day = toDate({day:String})
