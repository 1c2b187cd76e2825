-- get --
SELECT request_sha256, answer
FROM loom.idempotency_answers FINAL
WHERE org = {org:String} AND namespace = {namespace:String} AND idempotency_key = {key:String} AND op = {op:String}
