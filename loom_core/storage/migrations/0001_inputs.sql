-- The inputs: what writers, extractors and operators said. Everything else is derived from these tables.
-- Instants are UTC microseconds. Placeholders in braces are filled by the migrator: {on_cluster}, {replacing},
-- {summing}, {merge_tree}, {window}.

CREATE TABLE IF NOT EXISTS loom.memory {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    memory_key String,
    memory_id String COMMENT 'hash of (org, namespace, key, head, content): racing equal writes are one row',
    head String COMMENT 'the latest version or event of the key that the writer saw; empty for the first',
    path LowCardinality(String) COMMENT 'point, bulk or message: which write op landed it',
    role LowCardinality(String) COMMENT 'of a message: user, assistant, …',
    value String COMMENT 'JSON',
    content_sha256 String COMMENT 'over value, entities, relations, dates, sensitivity, tags and confidence (D20)',
    entities Array(String) COMMENT 'as the writer declared them',
    entities_given UInt8 COMMENT '0: none declared, the extractor may; 1: declared, also an empty list',
    relations String COMMENT 'JSON list, as the writer declared them',
    relations_given UInt8,
    valid_at Nullable(DateTime64(6, 'UTC')),
    valid_to Nullable(DateTime64(6, 'UTC')),
    sensitivity LowCardinality(String),
    tags Array(String),
    confidence Nullable(Float64),
    supersedes Array(String) COMMENT 'other keys whose live version this row retires',
    agent String,
    user_id String,
    session_id String,
    arrival DateTime64(6, 'UTC') COMMENT 'later of the clock and the last arrival of the key plus 1 µs (D5)',
    landed_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') COMMENT 'the store''s clock at the insert',
    first_wins UInt64 COMMENT 'falls as arrival grows, so that the earliest of equal rows stays',
    INDEX by_id memory_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_landing landed_at TYPE minmax GRANULARITY 1
)
ENGINE = {replacing}(first_wins)
ORDER BY (org, namespace, memory_key, memory_id)
SETTINGS {window}, index_granularity = 1024
COMMENT 'One row per version of a memory key. The truth that the graph is a projection of.';

CREATE TABLE IF NOT EXISTS loom.memory_events {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    key_hash String COMMENT 'hash of the key: an erasure keeps nothing else of it',
    event_id String,
    kind LowCardinality(String) COMMENT 'delete, restore, supersede, erase, or void: the row that superseded this key was erased',
    memory_key String COMMENT 'empty for an erasure',
    memory_id String COMMENT 'restore: the target; supersede: the row of another key that names this one; delete: the version deleted',
    at DateTime64(6, 'UTC'),
    start DateTime64(6, 'UTC') COMMENT 'supersede: where the naming row starts; else the same as at',
    erased_ids Array(String) COMMENT 'erase: the ids of the versions that were erased',
    agent String,
    landed_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC'),
    first_wins UInt64,
    INDEX by_landing landed_at TYPE minmax GRANULARITY 1
)
ENGINE = {replacing}(first_wins)
ORDER BY (org, namespace, key_hash, event_id)
SETTINGS {window}, index_granularity = 1024
COMMENT 'Append-only log of what happened to keys other than a new version.';

CREATE TABLE IF NOT EXISTS loom.memory_extractions {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    memory_id String,
    memory_key String,
    extractor String COMMENT 'the adapter, e.g. spacy/en_core_web_sm',
    prompt_version String,
    result String COMMENT 'JSON: entities, relations, numeric facts as the extractor returned them',
    input_tokens UInt32,
    output_tokens UInt32,
    cost_usd Nullable(Float64),
    skipped UInt32 COMMENT 'items of the answer that could not be used',
    at DateTime64(6, 'UTC'),
    landed_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC'),
    first_wins UInt64,
    INDEX by_landing landed_at TYPE minmax GRANULARITY 1
)
ENGINE = {replacing}(first_wins)
ORDER BY (org, namespace, memory_id)
SETTINGS {window}, index_granularity = 1024
COMMENT 'One extraction result per row version, the first stored: no model is asked twice (D39).';

CREATE TABLE IF NOT EXISTS loom.memory_links {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    from_key String,
    to_key String,
    link_type LowCardinality(String) COMMENT 'supports, depends_on, caused, contradicts, relates_to, …',
    agent String,
    at DateTime64(6, 'UTC'),
    first_wins UInt64
)
ENGINE = {replacing}(first_wins)
ORDER BY (org, namespace, from_key, to_key, link_type)
SETTINGS {window}, index_granularity = 1024
COMMENT 'Edges between memories that an agent or a person asserts; read by graph-mode search.';

CREATE TABLE IF NOT EXISTS loom.namespace_events {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    event_id String,
    kind LowCardinality(String) COMMENT 'ontology, expire, configure or recanonicalise',
    payload String COMMENT 'JSON',
    at DateTime64(6, 'UTC'),
    agent String
)
ENGINE = {replacing}
ORDER BY (org, namespace, event_id)
SETTINGS {window}, index_granularity = 1024
COMMENT 'Append-only log of what operators decided for a namespace; their count is its revision.';

CREATE TABLE IF NOT EXISTS loom.entity_aliases {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    alias String COMMENT 'canonical entity that is another name',
    entity String COMMENT 'canonical entity it stands for; empty once the alias is removed',
    event_id String,
    at DateTime64(6, 'UTC'),
    agent String
)
ENGINE = {replacing}
ORDER BY (org, namespace, alias, at, event_id)
SETTINGS {window}, index_granularity = 1024
COMMENT 'Append-only log of aliases (D21): the latest line of an alias counts. Erasure never touches it.';

CREATE TABLE IF NOT EXISTS loom.namespaces {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    first_seen DateTime64(6, 'UTC'),
    first_wins UInt64
)
ENGINE = {replacing}(first_wins)
ORDER BY (org, namespace)
SETTINGS {window}
COMMENT 'Every namespace that was ever written to.';
