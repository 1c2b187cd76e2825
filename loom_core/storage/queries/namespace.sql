-- mentions --
SELECT mention, entity, memory_key
FROM loom.entity_canonical_map FINAL
WHERE org = {org:String} AND namespace = {namespace:String}
