-- by_id --
SELECT {columns}
FROM loom.memory_projection_failures FINAL
WHERE org = {{org:String}} AND namespace = {{namespace:String}} AND failure_id IN {{ids:Array(String)}}

-- by_units --
SELECT {columns}
FROM loom.memory_projection_failures FINAL
WHERE org = {{org:String}} AND namespace = {{namespace:String}} AND unit_id IN {{ids:Array(String)}}
ORDER BY unit_id, `projection`

-- listed --
SELECT {columns}
FROM loom.memory_projection_failures FINAL
WHERE org = {{org:String}} AND namespace = {{namespace:String}} AND state IN {{states:Array(String)}}
ORDER BY first_failed_at, failure_id
LIMIT {{limit:UInt32}}

-- due --
SELECT {columns}
FROM loom.memory_projection_failures FINAL
WHERE org = {{org:String}} AND namespace = {{namespace:String}} AND state = 'open'
  AND `projection` IN {{projections:Array(String)}} AND next_try_at <= fromUnixTimestamp64Micro({{now:Int64}})
ORDER BY next_try_at, failure_id
LIMIT {{limit:UInt32}}
