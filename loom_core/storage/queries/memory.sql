-- link --
SELECT count()
FROM loom.memory_links FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND from_key = {from_key:String}
  AND to_key = {to_key:String} AND link_type = {link_type:String}

-- triples_of_row --
SELECT subject, relation, object, valid_from, valid_to, invalid_at
FROM loom.entity_triple_rows FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND memory_id = {memory_id:String}
ORDER BY subject, relation, object, valid_from
