-- tokens --
WITH lowerUTF8(normalizeUTF8NFKC({query:String})) AS search_text
SELECT arrayDistinct(arrayConcat(
    tokens(replaceRegexpAll(search_text, '[々〇ぁ-ヿㄱ-ㆎ㐀-䶿一-鿿가-힣豈-﫿𠀀-𯿿]+', ' '), 'splitByNonAlpha'),
    arrayFlatten(arrayMap(run -> if(lengthUTF8(run) = 1, [run], ngrams(run, 2)),
        extractAll(search_text, '[々〇ぁ-ヿㄱ-ㆎ㐀-䶿一-鿿가-힣豈-﫿𠀀-𯿿]+')))))

-- text --
WITH
    hits AS
    (
        SELECT memory_key, memory_id, arrival,
               arrayMap(forms -> toUInt64(hasAny(search_tokens, forms)), {words:Array(Array(String))}) AS matched
        FROM loom.memory FINAL
        WHERE org = {org:String} AND namespace = {namespace:String}
          AND hasAnyTokens(search_tokens, {forms:Array(String)})
    ),
    about AS
    (
        SELECT memory_id FROM loom.entity_canonical_map FINAL
        WHERE org = {org:String} AND namespace = {namespace:String} AND entity IN {entities:Array(String)}
    )
SELECT memory_key, memory_id, arrival,
       arraySum((hit, rows) -> hit * log(1 + total / greatest(rows, 1)), matched, with_word) AS rarity,
       if(memory_id IN (SELECT memory_id FROM about), {boost:Float64}, 1) * rarity AS score
FROM (SELECT *, sumForEach(matched) OVER () AS with_word, count() OVER () AS total FROM hits)
ORDER BY score DESC, arrival DESC, memory_key, memory_id
LIMIT {offset:UInt64}, {limit:UInt64}

-- rows_about --
SELECT entity, memory_key, arraySort(groupUniqArray(memory_id)) AS ids, max(arrival) AS newest
FROM
(
    SELECT DISTINCT entity, memory_key, memory_id
    FROM loom.entity_canonical_map FINAL
    WHERE org = {org:String} AND namespace = {namespace:String} AND entity IN {entities:Array(String)}
) AS mentions
INNER JOIN
(
    SELECT memory_id, arrival
    FROM loom.memory FINAL
    PREWHERE org = {org:String} AND namespace = {namespace:String} AND memory_key IN
    (
        SELECT memory_key FROM loom.entity_canonical_map
        WHERE org = {org:String} AND namespace = {namespace:String} AND entity IN {entities:Array(String)}
    )
) AS versions USING memory_id
GROUP BY entity, memory_key
ORDER BY entity, newest DESC, memory_key
LIMIT {per_entity:UInt64} BY entity

-- timeline --
SELECT memory_key, memory_id, ifNull(valid_at, arrival) AS at
FROM loom.memory FINAL
PREWHERE org = {org:String} AND namespace = {namespace:String} AND memory_key IN
(
    SELECT memory_key FROM loom.entity_canonical_map
    WHERE org = {org:String} AND namespace = {namespace:String} AND entity = {entity:String}
)
WHERE memory_id IN
(
    SELECT memory_id FROM loom.entity_canonical_map FINAL
    WHERE org = {org:String} AND namespace = {namespace:String} AND entity = {entity:String}
)
ORDER BY at, memory_key, memory_id
LIMIT {offset:UInt64}, {limit:UInt64}

-- entities_of --
SELECT DISTINCT entity
FROM loom.entity_canonical_map FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id IN {ids:Array(String)}
ORDER BY entity

-- degrees --
SELECT entity, sum(d.degree) AS degree
FROM loom.entity_degree AS d
PREWHERE org = {org:String} AND namespace = {namespace:String}
     AND generation =
         (
             SELECT max(generation) FROM loom.degree_generations
             WHERE org = {org:String} AND namespace = {namespace:String} AND state = 'current'
         )
     AND entity IN {entities:Array(String)}
GROUP BY entity

-- sharing --
SELECT memory_key, memory_id, arraySort(groupUniqArray(entity)) AS shared,
       arraySum(name -> transform(name, {entities:Array(String)}, {weights:Array(Float64)}, 0.), shared) AS score
FROM loom.entity_canonical_map FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND entity IN {entities:Array(String)}
  AND memory_key != {memory_key:String}
GROUP BY memory_key, memory_id
ORDER BY score DESC, memory_key, memory_id
LIMIT {offset:UInt64}, {limit:UInt64}

-- backlinks --
WITH
    sharing AS
    (
        SELECT memory_key, memory_id, arraySort(groupUniqArray(entity)) AS shared
        FROM loom.entity_canonical_map FINAL
        WHERE org = {org:String} AND namespace = {namespace:String} AND entity IN {entities:Array(String)}
          AND memory_key != {memory_key:String}
        GROUP BY memory_key, memory_id
    ),
    linking AS
    (
        SELECT from_key FROM loom.memory_links FINAL
        WHERE org = {org:String} AND namespace = {namespace:String} AND to_key = {memory_key:String}
    )
SELECT memory_key, memory_id, arrival, shared
FROM
(
    SELECT memory_key, memory_id, arrival
    FROM loom.memory FINAL
    PREWHERE org = {org:String} AND namespace = {namespace:String}
         AND memory_key IN (SELECT memory_key FROM sharing UNION ALL SELECT from_key FROM linking)
) AS versions
LEFT JOIN (SELECT memory_id, shared FROM sharing) AS named USING memory_id
WHERE notEmpty(shared) OR memory_key IN (SELECT from_key FROM linking)
ORDER BY arrival DESC, memory_key, memory_id
LIMIT {offset:UInt64}, {limit:UInt64}

-- links --
SELECT from_key, to_key
FROM loom.memory_links FINAL
WHERE org = {org:String} AND namespace = {namespace:String}
  AND (from_key IN {keys:Array(String)} OR to_key IN {keys:Array(String)})
ORDER BY from_key, to_key
LIMIT {limit:UInt64}

-- top_entities --
SELECT entity, sum(d.degree) AS total
FROM loom.entity_degree AS d
PREWHERE org = {org:String} AND namespace = {namespace:String}
     AND generation =
         (
             SELECT max(generation) FROM loom.degree_generations
             WHERE org = {org:String} AND namespace = {namespace:String} AND state = 'current'
         )
GROUP BY entity
HAVING total > 0
ORDER BY total DESC, entity
LIMIT {limit:UInt64}

-- other_entities --
SELECT DISTINCT entity
FROM loom.entity_canonical_map FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND entity NOT IN {known:Array(String)}
ORDER BY entity
LIMIT {limit:UInt64}

-- communities --
SELECT community_id, any(size) AS size, arrayMap(m -> m.2, arraySort(groupArray((-weight, entity)))) AS members
FROM
(
    SELECT community_id, entity, weight, count() OVER (PARTITION BY community_id) AS size
    FROM loom.entity_communities FINAL
    PREWHERE org = {org:String} AND namespace = {namespace:String}
         AND pass_id =
             (
                 SELECT pass_id FROM loom.community_passes FINAL
                 WHERE org = {org:String} AND namespace = {namespace:String}
             )
         AND level = 0
    ORDER BY community_id, weight DESC, entity
    LIMIT {members:UInt64} BY community_id
)
GROUP BY community_id
ORDER BY size DESC, community_id
LIMIT {limit:UInt64}
