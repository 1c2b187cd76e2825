-- lost_tries --
SELECT unit_id, toUInt32(count()), toUInt32(countIf(batch_size = 1))
FROM loom.projection_attempts FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND unit_id IN {ids:Array(String)}
  AND `projection` = {projection:String} AND outcome = '' AND at < fromUnixTimestamp64Micro({before:Int64})
GROUP BY unit_id

-- count_as_lost --
INSERT INTO loom.projection_attempts
    (org, namespace, unit_id, `projection`, attempt_id, batch_id, batch_size, outcome, at, ver)
SELECT org, namespace, unit_id, `projection`, attempt_id, batch_id, batch_size, 'lost', at, 1
FROM loom.projection_attempts FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND unit_id IN {ids:Array(String)}
  AND `projection` = {projection:String} AND outcome = '' AND at < fromUnixTimestamp64Micro({before:Int64})

-- triples_of_rows --
SELECT DISTINCT subject, relation, object
FROM loom.slot_statements FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}
ORDER BY subject, relation, object
