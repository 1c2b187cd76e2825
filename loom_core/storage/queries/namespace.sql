-- mentions --
SELECT mention, entity, memory_key
FROM loom.entity_canonical_map FINAL
WHERE org = {org:String} AND namespace = {namespace:String}

-- triple_ends --
SELECT DISTINCT subject, object, memory_key
FROM loom.entity_triple_rows FINAL
WHERE org = {org:String} AND namespace = {namespace:String}
