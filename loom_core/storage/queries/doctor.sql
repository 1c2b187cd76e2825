-- server --
SELECT version(), now64(6, 'UTC')

-- degree_table --
SELECT create_table_query
FROM system.tables
WHERE database = 'loom' AND name = 'entity_degree'

-- shards_beyond --
SELECT max(shard)
FROM loom.worker_runs FINAL
WHERE shard >= {shards:UInt32} AND shard != {every:UInt32} AND last_run_at >= fromUnixTimestamp64Micro({since:Int64})
