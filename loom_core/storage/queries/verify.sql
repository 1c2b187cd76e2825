-- keys --
SELECT DISTINCT memory_key
FROM loom.memory
WHERE org = {org:String} AND namespace = {namespace:String}
ORDER BY memory_key

-- degrees --
SELECT entity, sum(degree)
FROM loom.entity_degree
WHERE org = {org:String} AND namespace = {namespace:String} AND generation = {generation:UInt32}
GROUP BY entity

-- orphans --
SELECT count()
FROM loom.{table} FINAL
WHERE org = {{org:String}} AND namespace = {{namespace:String}} AND memory_id NOT IN
(
    SELECT memory_id FROM loom.memory WHERE org = {{org:String}} AND namespace = {{namespace:String}}
)

-- drop_orphans --
ALTER TABLE loom.{table} DELETE
WHERE org = {{org:String}} AND namespace = {{namespace:String}} AND memory_id NOT IN
(
    SELECT memory_id FROM loom.memory WHERE org = {{org:String}} AND namespace = {{namespace:String}}
)
