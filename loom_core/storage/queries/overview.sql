-- counts --
SELECT
    (SELECT uniqExact(memory_key) FROM loom.memory
     WHERE org = {org:String} AND namespace = {namespace:String}),
    (SELECT uniqExact(entity) FROM loom.entity_canonical_map FINAL
     WHERE org = {org:String} AND namespace = {namespace:String}),
    (SELECT count() FROM loom.entity_edges FINAL
     WHERE org = {org:String} AND namespace = {namespace:String} AND invalid_at IS NULL),
    (SELECT count() FROM loom.entity_triples FINAL
     WHERE org = {org:String} AND namespace = {namespace:String} AND invalid_at IS NULL)

-- top_entities --
SELECT entity, sum(degree) AS total
FROM loom.entity_degree
WHERE org = {org:String} AND namespace = {namespace:String} AND generation =
(
    SELECT maxIf(generation, state = 'current') FROM loom.degree_generations
    WHERE org = {org:String} AND namespace = {namespace:String}
)
GROUP BY entity
HAVING total > 0
ORDER BY total DESC, entity
LIMIT {limit:UInt32}

-- top_pairs --
SELECT entity_a, entity_b, sum(co_occur) AS total
FROM loom.entity_edges FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND invalid_at IS NULL
GROUP BY entity_a, entity_b
ORDER BY total DESC, entity_a, entity_b
LIMIT {limit:UInt32}

-- triples --
SELECT subject, relation, object, min(memory_key)
FROM loom.entity_triples FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND invalid_at IS NULL
GROUP BY subject, relation, object
ORDER BY count() DESC, max(confidence) DESC, subject, relation, object
LIMIT {limit:UInt32}

-- failures --
SELECT state, count()
FROM loom.memory_projection_failures FINAL
WHERE org = {org:String} AND namespace = {namespace:String}
GROUP BY state
ORDER BY state

-- community_pass --
SELECT entities, edges, communities, dropped, hub_drop_fraction, giant_share, capped, modularity
FROM loom.community_passes FINAL
WHERE org = {org:String} AND namespace = {namespace:String}

-- community_members --
SELECT entity, weight
FROM loom.entity_communities FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND level = {level:UInt8}
  AND community_id = {community:UInt32} AND pass_id =
  (
      SELECT pass_id FROM loom.community_passes FINAL
      WHERE org = {org:String} AND namespace = {namespace:String}
  )
ORDER BY weight DESC, entity
LIMIT {limit:UInt32}

-- largest_communities --
SELECT community_id, count() AS members
FROM loom.entity_communities FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND level = {level:UInt8} AND pass_id =
  (
      SELECT pass_id FROM loom.community_passes FINAL
      WHERE org = {org:String} AND namespace = {namespace:String}
  )
GROUP BY community_id
ORDER BY members DESC, community_id
LIMIT 5

-- has_memories --
SELECT 1
FROM loom.memory
WHERE org = {org:String} AND namespace = {namespace:String}
LIMIT 1

-- namespaces --
SELECT DISTINCT org, namespace
FROM loom.memory
ORDER BY org, namespace
LIMIT 10
