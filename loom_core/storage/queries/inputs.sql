-- rows --
SELECT {columns}
FROM loom.memory FINAL
WHERE org = {{org:String}} AND namespace = {{namespace:String}} AND memory_key IN {{keys:Array(String)}}

-- key_of_id --
SELECT memory_key
FROM loom.memory
WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id = {memory_id:String}
LIMIT 1

-- events --
SELECT key_hash, event_id, kind, memory_key, memory_id, at, start, erased_ids
FROM loom.memory_events FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND key_hash IN {hashes:Array(String)}

-- extractions --
SELECT memory_id, extractor, prompt_version, result, at
FROM loom.memory_extractions FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}

-- context --
SELECT source, name, payload, at, event_id
FROM
(
    SELECT 'event' AS source, kind AS name, payload, at, event_id
    FROM loom.namespace_events FINAL
    WHERE org = {org:String} AND namespace = {namespace:String}
    UNION ALL
    SELECT 'alias', alias, entity, at, event_id
    FROM loom.entity_aliases FINAL
    WHERE org = {org:String} AND namespace = {namespace:String}
)
ORDER BY at, event_id

-- seen --
SELECT sum(number), sum(arrived)
FROM
(
    SELECT count() AS number, sum(toInt128(toUnixTimestamp64Micro(arrival))) AS arrived
    FROM loom.memory FINAL
    WHERE org = {org:String} AND namespace = {namespace:String} AND memory_key IN {keys:Array(String)}
      AND NOT has({erased:Array(String)}, memory_id)
    UNION ALL
    SELECT uniqExact(event_id), toInt128(0)
    FROM loom.memory_events
    WHERE org = {org:String} AND namespace = {namespace:String} AND key_hash IN {hashes:Array(String)}
)

-- seen_extractions --
SELECT uniqExact(memory_id)
FROM loom.memory_extractions
WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}

-- revision --
SELECT
    (SELECT uniqExact(event_id) FROM loom.namespace_events
     WHERE org = {org:String} AND namespace = {namespace:String})
  + (SELECT uniqExact(event_id) FROM loom.entity_aliases
     WHERE org = {org:String} AND namespace = {namespace:String})
