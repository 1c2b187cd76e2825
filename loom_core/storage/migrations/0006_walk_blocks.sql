-- A hop reads a few hundred rows here and there: of a column it must unpack the whole compressed block around them.
-- Blocks of a granule or two instead of 64 KiB take a third of the CPU time off a hop of 20 or 100 entities over five
-- unmerged parts, for 5 % more disk (measured at a million observations, `tests/benchmarks/bench_facts.py`).

ALTER TABLE loom.entity_adjacency {on_cluster}
    MODIFY SETTING min_compress_block_size = 4096, max_compress_block_size = 65536;

ALTER TABLE loom.entity_triple_adjacency {on_cluster}
    MODIFY SETTING min_compress_block_size = 4096, max_compress_block_size = 65536;
