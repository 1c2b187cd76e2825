-- The graph: sets keyed by identity, read with FINAL, so that projecting twice is projecting once.
-- `ver` grows with the inputs a projector has seen, so that a stale one cannot win; `gone` retracts.

CREATE TABLE IF NOT EXISTS loom.entity_edges {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    entity_a String COMMENT 'the lesser name of the pair',
    entity_b String,
    memory_id String,
    span UInt16 COMMENT '0, and one more for each time a restore made the row hold again',
    memory_key String,
    value_sha256 String,
    co_occur UInt8 DEFAULT 1,
    valid_from DateTime64(6, 'UTC'),
    valid_to Nullable(DateTime64(6, 'UTC')),
    invalid_at Nullable(DateTime64(6, 'UTC')),
    arrival DateTime64(6, 'UTC'),
    ver UInt128,
    gone UInt8 DEFAULT 0
)
ENGINE = {replacing}(ver, gone)
ORDER BY (org, namespace, entity_a, entity_b, memory_id, span)
SETTINGS {window}, index_granularity = 1024
COMMENT 'One row per co-occurrence observation: a pair of entities in a row version, for one span of validity.';

CREATE TABLE IF NOT EXISTS loom.entity_adjacency {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    entity String,
    neighbour String,
    memory_id String,
    span UInt16,
    memory_key String,
    valid_from DateTime64(6, 'UTC'),
    valid_to Nullable(DateTime64(6, 'UTC')),
    invalid_at Nullable(DateTime64(6, 'UTC')),
    arrival DateTime64(6, 'UTC'),
    ver UInt128,
    gone UInt8
)
ENGINE = {replacing}(ver, gone)
ORDER BY (org, namespace, entity, neighbour, memory_id, span)
SETTINGS {window}, index_granularity = 256
COMMENT 'entity_edges in both directions: an entity''s neighbours are one primary-key range. Filled by a view.';

CREATE MATERIALIZED VIEW IF NOT EXISTS loom.entity_adjacency_view {on_cluster} TO loom.entity_adjacency AS
SELECT org, namespace, ends.1 AS entity, ends.2 AS neighbour, memory_id, span, memory_key,
       valid_from, valid_to, invalid_at, arrival, ver, gone
FROM loom.entity_edges
ARRAY JOIN [(entity_a, entity_b), (entity_b, entity_a)] AS ends;

CREATE TABLE IF NOT EXISTS loom.entity_edge_memories {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    entity_a String,
    entity_b String,
    memory_key String,
    memory_id String,
    span UInt16,
    ver UInt128,
    gone UInt8
)
ENGINE = {replacing}(ver, gone)
ORDER BY (org, namespace, entity_a, entity_b, memory_key, memory_id, span)
SETTINGS {window}, index_granularity = 1024
COMMENT 'Source keys per pair. Filled by a view.';

CREATE MATERIALIZED VIEW IF NOT EXISTS loom.entity_edge_memories_view {on_cluster} TO loom.entity_edge_memories AS
SELECT org, namespace, entity_a, entity_b, memory_key, memory_id, span, ver, gone FROM loom.entity_edges;

CREATE TABLE IF NOT EXISTS loom.entity_edge_rows {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    memory_id String,
    entity_a String,
    entity_b String,
    span UInt16,
    memory_key String,
    value_sha256 String,
    valid_from DateTime64(6, 'UTC'),
    valid_to Nullable(DateTime64(6, 'UTC')),
    invalid_at Nullable(DateTime64(6, 'UTC')),
    arrival DateTime64(6, 'UTC'),
    ver UInt128,
    gone UInt8
)
ENGINE = {replacing}(ver, gone)
ORDER BY (org, namespace, memory_id, entity_a, entity_b, span)
SETTINGS {window}, index_granularity = 1024
COMMENT 'The row, and the value, that named each pair: what a projector diffs and an erasure finds. Filled by a view.';

CREATE MATERIALIZED VIEW IF NOT EXISTS loom.entity_edge_rows_view {on_cluster} TO loom.entity_edge_rows AS
SELECT org, namespace, memory_id, entity_a, entity_b, span, memory_key, value_sha256,
       valid_from, valid_to, invalid_at, arrival, ver, gone
FROM loom.entity_edges;

CREATE TABLE IF NOT EXISTS loom.slot_statements {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    subject String,
    relation String,
    object String,
    memory_id String,
    position UInt16 COMMENT 'place in its write',
    memory_key String,
    own_start Nullable(DateTime64(6, 'UTC')),
    own_end Nullable(DateTime64(6, 'UTC')),
    past UInt8,
    confidence Float64,
    adapter_name LowCardinality(String),
    provenance LowCardinality(String),
    value_sha256 String,
    history String COMMENT 'JSON: the life of its row as far as its projector had seen',
    ver UInt128,
    gone UInt8 DEFAULT 0,
    landed_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC'),
    INDEX by_row memory_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {replacing}(ver)
ORDER BY (org, namespace, subject, relation, object, memory_id, position)
SETTINGS {window}, index_granularity = 256
COMMENT 'Who stated what about a slot: the input of the slot rule, one row a statement. Retracted ones stay, counted, until erased.';

CREATE TABLE IF NOT EXISTS loom.slot_epochs {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    slot_hash String,
    epoch_id String COMMENT 'the erasure'
)
ENGINE = {replacing}
ORDER BY (org, namespace, slot_hash, epoch_id)
SETTINGS {window}, index_granularity = 1024
COMMENT 'Counts the erasures that touched a slot, so that its version still grows when its statements go.';

CREATE TABLE IF NOT EXISTS loom.entity_triples {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    subject String,
    relation String,
    object String,
    memory_id String,
    span UInt16,
    memory_key String,
    value_sha256 String,
    confidence Float64,
    adapter_name LowCardinality(String) COMMENT 'caller, the extractor''s model, or loom/facet',
    provenance LowCardinality(String) COMMENT 'extracted, inferred or facet',
    valid_from DateTime64(6, 'UTC'),
    valid_to Nullable(DateTime64(6, 'UTC')),
    invalid_at Nullable(DateTime64(6, 'UTC')),
    arrival DateTime64(6, 'UTC'),
    ver UInt128,
    gone UInt8 DEFAULT 0
)
ENGINE = {replacing}(ver, gone)
ORDER BY (org, namespace, subject, relation, object, memory_id, span)
SETTINGS {window}, index_granularity = 256
COMMENT 'One row per observation of a typed triple, for one span of validity: the output of the slot rule.';

CREATE TABLE IF NOT EXISTS loom.entity_triple_adjacency {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    entity String,
    neighbour String,
    relation String,
    direction Enum8('out' = 1, 'in' = 2),
    memory_id String,
    span UInt16,
    memory_key String,
    confidence Float64,
    provenance LowCardinality(String),
    valid_from DateTime64(6, 'UTC'),
    valid_to Nullable(DateTime64(6, 'UTC')),
    invalid_at Nullable(DateTime64(6, 'UTC')),
    arrival DateTime64(6, 'UTC'),
    ver UInt128,
    gone UInt8
)
ENGINE = {replacing}(ver, gone)
ORDER BY (org, namespace, entity, neighbour, relation, direction, memory_id, span)
SETTINGS {window}, index_granularity = 256
COMMENT 'entity_triples from either end: a labelled walk''s hop is one primary-key range. Filled by a view.';

CREATE MATERIALIZED VIEW IF NOT EXISTS loom.entity_triple_adjacency_view {on_cluster}
TO loom.entity_triple_adjacency AS
SELECT org, namespace, ends.1 AS entity, ends.2 AS neighbour, relation,
       CAST(ends.3, 'Enum8(\'out\' = 1, \'in\' = 2)') AS direction,
       memory_id, span, memory_key, confidence, provenance, valid_from, valid_to, invalid_at, arrival, ver, gone
FROM loom.entity_triples
ARRAY JOIN [(subject, object, 'out'), (object, subject, 'in')] AS ends;

CREATE TABLE IF NOT EXISTS loom.entity_triple_memories {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    subject String,
    relation String,
    object String,
    memory_key String,
    memory_id String,
    span UInt16,
    valid_from DateTime64(6, 'UTC'),
    valid_to Nullable(DateTime64(6, 'UTC')),
    invalid_at Nullable(DateTime64(6, 'UTC')),
    ver UInt128,
    gone UInt8
)
ENGINE = {replacing}(ver, gone)
ORDER BY (org, namespace, subject, relation, object, memory_key, memory_id, span)
SETTINGS {window}, index_granularity = 1024
COMMENT 'Source keys per triple. Filled by a view.';

CREATE MATERIALIZED VIEW IF NOT EXISTS loom.entity_triple_memories_view {on_cluster}
TO loom.entity_triple_memories AS
SELECT org, namespace, subject, relation, object, memory_key, memory_id, span, valid_from, valid_to, invalid_at,
       ver, gone
FROM loom.entity_triples;

CREATE TABLE IF NOT EXISTS loom.entity_triple_rows {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    memory_id String,
    subject String,
    relation String,
    object String,
    span UInt16,
    memory_key String,
    value_sha256 String,
    adapter_name LowCardinality(String),
    confidence Float64,
    valid_from DateTime64(6, 'UTC'),
    valid_to Nullable(DateTime64(6, 'UTC')),
    invalid_at Nullable(DateTime64(6, 'UTC')),
    ver UInt128,
    gone UInt8
)
ENGINE = {replacing}(ver, gone)
ORDER BY (org, namespace, memory_id, subject, relation, object, span)
SETTINGS {window}, index_granularity = 1024
COMMENT 'The row, and the value, that stated each triple. Filled by a view.';

CREATE MATERIALIZED VIEW IF NOT EXISTS loom.entity_triple_rows_view {on_cluster} TO loom.entity_triple_rows AS
SELECT org, namespace, memory_id, subject, relation, object, span, memory_key, value_sha256, adapter_name,
       confidence, valid_from, valid_to, invalid_at, ver, gone
FROM loom.entity_triples;

CREATE TABLE IF NOT EXISTS loom.entity_canonical_map {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    mention String COMMENT 'as written',
    memory_id String,
    entity String COMMENT 'its node, aliases followed',
    entity_type LowCardinality(String) COMMENT 'as the extractor named it; not identity (D18)',
    memory_key String,
    ver UInt128,
    gone UInt8 DEFAULT 0,
    INDEX by_entity entity TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX by_row memory_id TYPE bloom_filter(0.01) GRANULARITY 4
)
ENGINE = {replacing}(ver, gone)
ORDER BY (org, namespace, mention, memory_id)
SETTINGS {window}, index_granularity = 1024
COMMENT 'Every mention of every row version and the canonical entity it was taken for (D21).';

CREATE TABLE IF NOT EXISTS loom.derived_facts {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    entity String,
    attribute String,
    memory_id String,
    position UInt16,
    memory_key String,
    value Float64,
    unit String,
    date Nullable(DateTime64(6, 'UTC')),
    adapter_name LowCardinality(String),
    ver UInt128,
    gone UInt8 DEFAULT 0,
    INDEX by_row memory_id TYPE bloom_filter(0.01) GRANULARITY 4
)
ENGINE = {replacing}(ver, gone)
ORDER BY (org, namespace, entity, attribute, memory_id, position)
SETTINGS {window}, index_granularity = 1024
COMMENT 'Numeric facts with unit and date, one row a statement.';

CREATE TABLE IF NOT EXISTS loom.entity_vectors {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    entity String,
    model LowCardinality(String),
    vector Array(Float32),
    at DateTime64(6, 'UTC')
)
ENGINE = {replacing}(at)
ORDER BY (org, namespace, entity, model)
COMMENT 'Embeddings of entities; nothing fills it yet.';

CREATE TABLE IF NOT EXISTS loom.entity_summaries {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    entity String,
    summary String,
    at DateTime64(6, 'UTC')
)
ENGINE = {replacing}(at)
ORDER BY (org, namespace, entity)
COMMENT 'Summaries of entities; nothing fills it yet.';

CREATE TABLE IF NOT EXISTS loom.entity_degree {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    generation UInt32,
    entity String,
    degree Int64
)
ENGINE = {summing}(degree)
ORDER BY (org, namespace, generation, entity)
SETTINGS {window}
COMMENT 'Total co-occurrence degree per entity, from live row versions (D42). The one table that adds: every insert carries its batch''s token.';

CREATE TABLE IF NOT EXISTS loom.degree_units {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    memory_id String,
    seq UInt32 COMMENT 'odd: the row''s pairs begin to count; even: they cease',
    batch_id String,
    generation UInt32 COMMENT 'the one that was current when the batch was frozen',
    entities Array(String),
    amounts Array(Int64),
    ver UInt128,
    landed_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC'),
    INDEX by_batch batch_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {replacing}
ORDER BY (org, namespace, memory_id, seq, batch_id)
SETTINGS {window}, index_granularity = 1024
COMMENT 'What is added to entity_degree, frozen before it is: one unit per row version and change, grouped into batches.';

CREATE TABLE IF NOT EXISTS loom.degree_generations {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    generation UInt32,
    state LowCardinality(String) COMMENT 'opening or current',
    at DateTime64(6, 'UTC')
)
ENGINE = {replacing}
ORDER BY (org, namespace, generation, state)
SETTINGS {window}
COMMENT 'Recounts of entity_degree; readers take the highest current generation, 0 where there is none.';

CREATE TABLE IF NOT EXISTS loom.degree_generation_batches {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    generation UInt32,
    batch_id String
)
ENGINE = {replacing}
ORDER BY (org, namespace, generation, batch_id)
SETTINGS {window}
COMMENT 'The batches that a recount counted.';
