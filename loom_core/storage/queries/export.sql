-- entity_bound --
SELECT min(entity)
FROM
(
    (
        SELECT entity FROM loom.entity_adjacency
        PREWHERE org = {org:String} AND namespace = {namespace:String} AND entity > {after:String}
        ORDER BY entity LIMIT 1 OFFSET {observations:UInt64}
    )
    UNION ALL
    (
        SELECT entity FROM loom.entity_triple_adjacency
        PREWHERE org = {org:String} AND namespace = {namespace:String} AND entity > {after:String}
        ORDER BY entity LIMIT 1 OFFSET {observations:UInt64}
    )
)

-- edge_bound --
SELECT min(entity_a)
FROM
(
    SELECT entity_a FROM loom.entity_edges
    PREWHERE org = {org:String} AND namespace = {namespace:String} AND entity_a > {after:String}
    ORDER BY entity_a LIMIT 1 OFFSET {observations:UInt64}
)

-- triple_bound --
SELECT min(subject)
FROM
(
    SELECT subject FROM loom.entity_triples
    PREWHERE org = {org:String} AND namespace = {namespace:String} AND subject > {after:String}
    ORDER BY subject LIMIT 1 OFFSET {observations:UInt64}
)

-- entities --
WITH fromUnixTimestamp64Micro({at:Int64}, 'UTC') AS at
SELECT name, degree, if(in_pass, toNullable(community_id), NULL) AS community
FROM
(
    SELECT DISTINCT entity AS name
    FROM
    (
        SELECT entity FROM loom.entity_adjacency FINAL
        PREWHERE org = {org:String} AND namespace = {namespace:String}
             AND entity > {after:String} AND ({until:String} = '' OR entity <= {until:String})
        WHERE {all:UInt8}
           OR (valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at))
        UNION ALL
        SELECT entity FROM loom.entity_triple_adjacency FINAL
        PREWHERE org = {org:String} AND namespace = {namespace:String}
             AND entity > {after:String} AND ({until:String} = '' OR entity <= {until:String})
        WHERE {all:UInt8}
           OR (valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at))
    )
) AS nodes
LEFT ANY JOIN
(
    SELECT entity, sum(d.degree) AS degree
    FROM loom.entity_degree AS d
    PREWHERE org = {org:String} AND namespace = {namespace:String}
         AND generation =
             (
                 SELECT max(generation) FROM loom.degree_generations
                 WHERE org = {org:String} AND namespace = {namespace:String} AND state = 'current'
             )
         AND entity > {after:String} AND ({until:String} = '' OR entity <= {until:String})
    GROUP BY entity
) AS degrees ON nodes.name = degrees.entity
LEFT ANY JOIN
(
    SELECT entity, community_id, 1 AS in_pass
    FROM loom.entity_communities FINAL
    PREWHERE org = {org:String} AND namespace = {namespace:String}
         AND pass_id =
             (
                 SELECT pass_id FROM loom.community_passes FINAL
                 WHERE org = {org:String} AND namespace = {namespace:String}
             )
         AND level = 0 AND entity > {after:String} AND ({until:String} = '' OR entity <= {until:String})
) AS communities ON nodes.name = communities.entity
ORDER BY name

-- edges --
WITH
    fromUnixTimestamp64Micro({at:Int64}, 'UTC') AS at,
    toDateTime64('2299-12-31 23:59:59.999999', 6, 'UTC') AS never,
    valid_from <= at AND at < ifNull(valid_to, never) AND at < ifNull(invalid_at, never) AS holds,
    (holds, least(ifNull(valid_to, never), ifNull(invalid_at, never)), ifNull(valid_to, never)) AS lasts
SELECT entity_a, entity_b, countIf(holds) AS co_occur, count() AS observations,
       if(co_occur > 0, minIf(valid_from, holds), min(valid_from)) AS since,
       argMax((valid_to, invalid_at), lasts) AS until,
       arraySlice(arraySort(groupUniqArray(memory_key)), 1, 10) AS sources
FROM loom.entity_edges FINAL
PREWHERE org = {org:String} AND namespace = {namespace:String}
     AND entity_a > {after:String} AND ({until:String} = '' OR entity_a <= {until:String})
WHERE {all:UInt8} OR holds
GROUP BY entity_a, entity_b
ORDER BY entity_a, entity_b

-- triples --
WITH
    fromUnixTimestamp64Micro({at:Int64}, 'UTC') AS at,
    toDateTime64('2299-12-31 23:59:59.999999', 6, 'UTC') AS never,
    valid_from <= at AND at < ifNull(valid_to, never) AND at < ifNull(invalid_at, never) AS holds,
    (holds, least(ifNull(valid_to, never), ifNull(invalid_at, never)), ifNull(valid_to, never)) AS lasts
SELECT subject, relation, object, countIf(holds) AS co_occur, count() AS observations,
       if(co_occur > 0, minIf(valid_from, holds), min(valid_from)) AS since,
       argMax((valid_to, invalid_at), lasts) AS until,
       arraySlice(arraySort(groupUniqArray(memory_key)), 1, 10) AS sources,
       argMax((t.confidence, adapter_name, provenance), (holds, t.confidence, arrival, memory_id)) AS told_by
FROM loom.entity_triples AS t FINAL
PREWHERE org = {org:String} AND namespace = {namespace:String}
     AND subject > {after:String} AND ({until:String} = '' OR subject <= {until:String})
WHERE {all:UInt8} OR holds
GROUP BY subject, relation, object
ORDER BY subject, relation, object
