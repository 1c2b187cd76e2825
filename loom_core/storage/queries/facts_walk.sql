/* A hop reads a few ranges of the primary key: starting more threads costs more than they save, a fifth of the CPU
time at a million observations, and a walk shall not take the cores of the calls beside it. */

-- hop --
WITH fromUnixTimestamp64Micro({at:Int64}, 'UTC') AS at
SELECT parent, child, weight, degree,
       if(degree > 0, toFloat64(degree), toFloat64(weight)) AS mass,
       multiIf({rank_by:String} = 'co_occur', toFloat64(weight),
               {rank_by:String} = 'specificity', weight / mass,
               weight * weight / mass) AS score
FROM
(
    SELECT entity AS parent, neighbour AS child, count() AS weight
    FROM loom.entity_adjacency FINAL
    PREWHERE org = {org:String} AND namespace = {namespace:String} AND entity IN {frontier:Array(String)}
    WHERE neighbour NOT IN {visited:Array(String)}
      AND valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at)
    GROUP BY parent, child
    HAVING weight >= {min_co_occur:UInt64}
) AS pairs
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
         AND entity IN
             (
                 SELECT neighbour FROM loom.entity_adjacency
                 PREWHERE org = {org:String} AND namespace = {namespace:String}
                      AND entity IN {frontier:Array(String)}
             )
    GROUP BY entity
) AS degrees ON pairs.child = degrees.entity
ORDER BY parent, score DESC, weight DESC, child
LIMIT {top_k:UInt64} BY parent
SETTINGS max_threads = 1

-- typed_hop --
WITH fromUnixTimestamp64Micro({at:Int64}, 'UTC') AS at
SELECT parent, child, weight, toInt64(observations) AS degree,
       if(degree > 0, toFloat64(degree), toFloat64(weight)) AS mass,
       multiIf({rank_by:String} = 'co_occur', toFloat64(weight),
               {rank_by:String} = 'specificity', weight / mass,
               weight * weight / mass) AS score
FROM
(
    SELECT entity AS parent, neighbour AS child, count() AS weight
    FROM loom.entity_triple_adjacency FINAL
    PREWHERE org = {org:String} AND namespace = {namespace:String} AND entity IN {frontier:Array(String)}
    WHERE neighbour NOT IN {visited:Array(String)}
      AND (empty({relations:Array(String)}) OR relation IN {relations:Array(String)})
      AND valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at)
    GROUP BY parent, child
    HAVING weight >= {min_co_occur:UInt64}
) AS pairs
LEFT ANY JOIN
(
    SELECT entity, countIf(direction = 'out' OR neighbour != entity) AS observations
    FROM loom.entity_triple_adjacency FINAL
    PREWHERE org = {org:String} AND namespace = {namespace:String}
         AND entity IN
             (
                 SELECT neighbour FROM loom.entity_triple_adjacency
                 PREWHERE org = {org:String} AND namespace = {namespace:String}
                      AND entity IN {frontier:Array(String)}
             )
    WHERE valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at)
    GROUP BY entity
) AS degrees ON pairs.child = degrees.entity
ORDER BY parent, score DESC, weight DESC, child
LIMIT {top_k:UInt64} BY parent
SETTINGS max_threads = 1

-- neighbours --
WITH fromUnixTimestamp64Micro({at:Int64}, 'UTC') AS at
SELECT entity AS parent, neighbour AS child, count() AS weight
FROM loom.entity_adjacency FINAL
PREWHERE org = {org:String} AND namespace = {namespace:String} AND entity IN {frontier:Array(String)}
WHERE neighbour NOT IN {visited:Array(String)}
  AND valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at)
GROUP BY parent, child
HAVING weight >= {min_co_occur:UInt64}
ORDER BY parent, weight DESC, child
LIMIT {top_k:UInt64} BY parent
SETTINGS max_threads = 1

-- typed_neighbours --
WITH fromUnixTimestamp64Micro({at:Int64}, 'UTC') AS at
SELECT entity AS parent, neighbour AS child, count() AS weight
FROM loom.entity_triple_adjacency FINAL
PREWHERE org = {org:String} AND namespace = {namespace:String} AND entity IN {frontier:Array(String)}
WHERE neighbour NOT IN {visited:Array(String)} AND neighbour != entity
  AND (empty({relations:Array(String)}) OR relation IN {relations:Array(String)})
  AND valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at)
GROUP BY parent, child
HAVING weight >= {min_co_occur:UInt64}
ORDER BY parent, weight DESC, child
LIMIT {top_k:UInt64} BY parent
SETTINGS max_threads = 1

-- edges --
WITH
    fromUnixTimestamp64Micro({at:Int64}, 'UTC') AS at,
    toDateTime64('2299-12-31 23:59:59.999999', 6, 'UTC') AS never
SELECT entity AS source, neighbour AS target, count() AS weight, min(valid_from) AS since,
       argMax(tuple(valid_to), (least(ifNull(valid_to, never), ifNull(invalid_at, never)),
                                ifNull(valid_to, never))).1 AS until
FROM loom.entity_adjacency FINAL
PREWHERE org = {org:String} AND namespace = {namespace:String}
     AND (entity, neighbour) IN {pairs:Array(Tuple(String, String))}
WHERE valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at)
GROUP BY source, target
SETTINGS max_threads = 1

-- typed_edges --
WITH
    fromUnixTimestamp64Micro({at:Int64}, 'UTC') AS at,
    toDateTime64('2299-12-31 23:59:59.999999', 6, 'UTC') AS never
SELECT source, target, sum(observations) AS weight, min(since) AS first_since,
       argMax(until, holds_until).1 AS last_until,
       argMin((relation, directed.1, directed.2), (-toInt64(observations), relation)) AS via
FROM
(
    SELECT source, target, relation, sum(seen) AS observations, min(first_from) AS since,
           max(lasts) AS holds_until, argMax(last_to, lasts) AS until,
           argMax((direction, best_provenance), (seen, direction = 'out')) AS directed
    FROM
    (
        SELECT entity AS source, neighbour AS target, relation, direction, count() AS seen,
               min(valid_from) AS first_from,
               max((least(ifNull(valid_to, never), ifNull(invalid_at, never)), ifNull(valid_to, never))) AS lasts,
               argMax(tuple(valid_to), (least(ifNull(valid_to, never), ifNull(invalid_at, never)),
                                        ifNull(valid_to, never))) AS last_to,
               argMax(provenance, (confidence, arrival, memory_id)) AS best_provenance
        FROM loom.entity_triple_adjacency FINAL
        PREWHERE org = {org:String} AND namespace = {namespace:String}
             AND (entity, neighbour) IN {pairs:Array(Tuple(String, String))}
        WHERE (empty({relations:Array(String)}) OR relation IN {relations:Array(String)})
          AND valid_from <= at AND (valid_to IS NULL OR at < valid_to) AND (invalid_at IS NULL OR at < invalid_at)
        GROUP BY source, target, relation, direction
    )
    GROUP BY source, target, relation
)
GROUP BY source, target
SETTINGS max_threads = 1

-- communities --
SELECT entity, community_id
FROM loom.entity_communities FINAL
PREWHERE org = {org:String} AND namespace = {namespace:String}
     AND pass_id =
         (
             SELECT pass_id FROM loom.community_passes FINAL
             WHERE org = {org:String} AND namespace = {namespace:String}
         )
     AND level = 0 AND entity IN {entities:Array(String)}
