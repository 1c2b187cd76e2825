-- list_batches --
INSERT INTO loom.degree_generation_batches (org, namespace, generation, batch_id)
SELECT DISTINCT org, namespace, {generation:UInt32}, batch_id
FROM loom.degree_units
WHERE org = {org:String} AND namespace = {namespace:String}

-- sum_batches --
INSERT INTO loom.entity_degree (org, namespace, generation, entity, degree)
SELECT org, namespace, {generation:UInt32}, entity, sum(amount)
FROM
(
    SELECT org, namespace, memory_id, seq, any(entities) AS names, any(amounts) AS numbers
    FROM loom.degree_units FINAL
    WHERE org = {org:String} AND namespace = {namespace:String} AND batch_id IN
    (
        SELECT batch_id FROM loom.degree_generation_batches
        WHERE org = {org:String} AND namespace = {namespace:String} AND generation = {generation:UInt32}
    )
    GROUP BY org, namespace, memory_id, seq
)
ARRAY JOIN names AS entity, numbers AS amount
GROUP BY org, namespace, entity

-- stragglers --
SELECT DISTINCT batch_id
FROM loom.degree_units
WHERE org = {org:String} AND namespace = {namespace:String}
  AND landed_at >= fromUnixTimestamp64Micro({since:Int64}) AND landed_at <= fromUnixTimestamp64Micro({until:Int64})
  AND batch_id NOT IN
  (
      SELECT batch_id FROM loom.degree_generation_batches
      WHERE org = {org:String} AND namespace = {namespace:String} AND generation = {generation:UInt32}
  )
  AND (generation < {generation:UInt32} OR concat('batch:', batch_id) NOT IN
  (
      SELECT unit_id FROM loom.projection_receipts
      WHERE org = {org:String} AND namespace = {namespace:String} AND startsWith(unit_id, 'batch:')
  ))
ORDER BY batch_id
