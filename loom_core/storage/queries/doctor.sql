-- server --
SELECT version(), now64(6, 'UTC')

-- degree_table --
SELECT create_table_query
FROM system.tables
WHERE database = 'loom' AND name = 'entity_degree'
