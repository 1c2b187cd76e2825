-- stated --
SELECT DISTINCT subject, relation, object, memory_id, memory_key
FROM loom.slot_statements FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND gone = 0
  AND adapter_name = {adapter:String} AND ({ceiling:Float64} >= 1.0 OR confidence < {ceiling:Float64})

-- retract --
INSERT INTO loom.slot_statements
    (org, namespace, subject, relation, object, memory_id, position, memory_key, own_start, own_end, past,
     confidence, adapter_name, provenance, value_sha256, history, ver, gone)
SELECT org, namespace, subject, relation, object, memory_id, position, memory_key, own_start, own_end, past,
       confidence, adapter_name, provenance, value_sha256, history, ver + {one_more:UInt128}, 1
FROM loom.slot_statements FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND gone = 0
  AND adapter_name = {adapter:String} AND ({ceiling:Float64} >= 1.0 OR confidence < {ceiling:Float64})
