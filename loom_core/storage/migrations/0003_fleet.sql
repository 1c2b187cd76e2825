-- What the fleet needs to know of its work. Redis holds none of it.

CREATE TABLE IF NOT EXISTS loom.projection_receipts {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    unit_id String COMMENT 'a memory id, an event id, or `x:` and a memory id for its extraction',
    `projection` LowCardinality(String),
    seen UInt64 COMMENT 'inputs of the key that had been seen',
    done_at DateTime64(6, 'UTC')
)
ENGINE = {replacing}(seen)
ORDER BY (org, namespace, unit_id, projection)
SETTINGS {window}, index_granularity = 1024
COMMENT 'Written last, once a unit''s projection stands: what has none is found and projected again.';

CREATE TABLE IF NOT EXISTS loom.projection_attempts {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    unit_id String,
    `projection` LowCardinality(String) COMMENT 'a projection, or extraction',
    attempt_id String,
    batch_id String,
    batch_size UInt32,
    outcome LowCardinality(String) COMMENT 'empty while it runs; done, failed or refunded',
    at DateTime64(6, 'UTC'),
    ver UInt8
)
ENGINE = {replacing}(ver)
ORDER BY (org, namespace, unit_id, projection, attempt_id)
SETTINGS {window}, index_granularity = 1024
COMMENT 'Tries, each recorded before it is made; one that never reported back counts (D35).';

CREATE TABLE IF NOT EXISTS loom.memory_projection_failures {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    failure_id String COMMENT 'hash of unit and projection: one logical failure is one row (D33)',
    unit_id String,
    memory_key String,
    memory_id String,
    `projection` LowCardinality(String),
    state LowCardinality(String) COMMENT 'open, resolved, stale or dead',
    attempts UInt32,
    error_class String,
    error String,
    value_sha256 String COMMENT 'of the value that failed to project',
    as_of DateTime64(6, 'UTC') COMMENT 'the write or Undo that a failed close is replayed as of',
    first_failed_at DateTime64(6, 'UTC'),
    last_failed_at DateTime64(6, 'UTC'),
    next_try_at DateTime64(6, 'UTC'),
    ver UInt64
)
ENGINE = {replacing}(ver)
ORDER BY (org, namespace, failure_id)
SETTINGS {window}, index_granularity = 1024
COMMENT 'The failure log: what did not project, how often it was tried, and what became of it.';

CREATE TABLE IF NOT EXISTS loom.erasures {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    erase_id String,
    key_hash String,
    memory_ids Array(String),
    step LowCardinality(String) COMMENT 'the last step done; swept once everything was done twice',
    counts String COMMENT 'JSON: rows erased, by table',
    at DateTime64(6, 'UTC'),
    answer_keys Array(String) COMMENT 'hashes under which Redis may hold a model''s answers',
    ver UInt64
)
ENGINE = {replacing}(ver)
ORDER BY (org, namespace, erase_id)
SETTINGS {window}
COMMENT 'Erasures under way and done, so that one that died goes on.';

CREATE TABLE IF NOT EXISTS loom.entity_communities {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    pass_id String,
    level UInt8,
    entity String,
    community_id UInt32,
    stable_key UInt64 COMMENT 'hash of the community''s strongest member: survives small changes of the graph',
    weight Int64 COMMENT 'the entity''s weighted degree in the pass'
)
ENGINE = {replacing}
ORDER BY (org, namespace, pass_id, level, entity)
SETTINGS {window}, index_granularity = 1024
COMMENT 'Community per entity and level, one set of rows per pass; community_passes says which pass is read.';

CREATE TABLE IF NOT EXISTS loom.community_passes {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    pass_id String,
    finished_at DateTime64(6, 'UTC'),
    graph_hash String COMMENT 'of the edges that held: an unchanged namespace is skipped',
    entities UInt64,
    edges UInt64,
    communities UInt64,
    dropped Array(String) COMMENT 'the hubs left out',
    hub_drop_fraction Float64,
    giant_share Float64,
    capped UInt8,
    modularity Float64,
    seconds Float64,
    ver UInt64
)
ENGINE = {replacing}(ver)
ORDER BY (org, namespace)
SETTINGS {window}
COMMENT 'The pass that readers see, one row a namespace, written last.';

CREATE TABLE IF NOT EXISTS loom.namespace_walks {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    day Date
)
ENGINE = {replacing}
ORDER BY (org, namespace, day)
TTL day + INTERVAL 1 YEAR
COMMENT 'Days on which a namespace was walked: entity_communities covers those walked lately.';

CREATE TABLE IF NOT EXISTS loom.worker_runs {on_cluster}
(
    worker LowCardinality(String),
    shard UInt32,
    last_run_at DateTime64(6, 'UTC'),
    last_outcome LowCardinality(String) COMMENT 'idle, done, partial, failed or lease_lost',
    handled UInt64,
    failed UInt64,
    seconds Float64,
    detail String,
    fence UInt64 COMMENT 'fencing token of the lease it ran under',
    ver UInt64
)
ENGINE = {replacing}(ver)
ORDER BY (worker, shard)
SETTINGS {window}
COMMENT 'The last tick of each worker and shard.';

CREATE TABLE IF NOT EXISTS loom.work_marks {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    worker LowCardinality(String),
    mark DateTime64(6, 'UTC') COMMENT 'everything landed before it is known to be done',
    ver UInt64
)
ENGINE = {replacing}(ver)
ORDER BY (org, namespace, worker)
SETTINGS {window}
COMMENT 'How far a sweep has come: bounds the search for rows without a receipt.';

CREATE TABLE IF NOT EXISTS loom.llm_spend {on_cluster}
(
    day Date,
    call_id String,
    org LowCardinality(String),
    namespace LowCardinality(String),
    model LowCardinality(String),
    input_tokens UInt32,
    output_tokens UInt32,
    cost_usd Nullable(Float64)
)
ENGINE = {replacing}
ORDER BY (day, call_id)
TTL day + INTERVAL 90 DAY
SETTINGS {window}
COMMENT 'One row per LLM call: the daily budget is a sum over it.';

CREATE TABLE IF NOT EXISTS loom.idempotency_answers {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    idempotency_key String,
    op LowCardinality(String),
    request_sha256 String,
    status UInt16,
    answer String,
    memory_keys Array(String) COMMENT 'whose erasure takes the answer along',
    at DateTime64(6, 'UTC')
)
ENGINE = {replacing}(at)
ORDER BY (org, namespace, idempotency_key)
TTL toDateTime(at) + INTERVAL 2 DAY
SETTINGS {window}
COMMENT 'Answers to writes that carried an Idempotency-Key.';

CREATE TABLE IF NOT EXISTS loom.audit {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    at DateTime64(6, 'UTC'),
    op LowCardinality(String),
    agent String,
    role LowCardinality(String),
    request_id String,
    outcome LowCardinality(String),
    detail String COMMENT 'JSON; never a value'
)
ENGINE = {merge_tree}
ORDER BY (org, namespace, at)
TTL toDateTime(at) + INTERVAL 1 YEAR
COMMENT 'Who called which audited operation, and how it ended.';
