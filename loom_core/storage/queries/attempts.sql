-- unreported --
SELECT unit_id, count(), countIf(batch_size = 1), max(at)
FROM loom.projection_attempts FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND unit_id IN {ids:Array(String)}
  AND `projection` = {projection:String} AND outcome = '' AND at < fromUnixTimestamp64Micro({before:Int64})
GROUP BY unit_id
