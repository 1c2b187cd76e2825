-- Where something landed lately, so that a sweep looks only there: one row a namespace and kind of input.

CREATE TABLE IF NOT EXISTS loom.namespace_activity {on_cluster}
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    source LowCardinality(String) COMMENT 'row, untagged (a row that an extractor may read), event or extraction',
    landed_at DateTime64(6, 'UTC') COMMENT 'when the last of that kind landed, by the store''s clock'
)
ENGINE = {replacing}(landed_at)
ORDER BY (org, namespace, source)
SETTINGS {window}
COMMENT 'The last landing of each kind of input in each namespace. Filled by views.';

CREATE MATERIALIZED VIEW IF NOT EXISTS loom.namespace_activity_rows {on_cluster} TO loom.namespace_activity AS
SELECT org, namespace, if(entities_given = 0 AND sensitivity = 'normal', 'untagged', 'row') AS source,
       max(landed_at) AS landed_at
FROM loom.memory
GROUP BY org, namespace, source;

CREATE MATERIALIZED VIEW IF NOT EXISTS loom.namespace_activity_events {on_cluster} TO loom.namespace_activity AS
SELECT org, namespace, 'event' AS source, max(landed_at) AS landed_at
FROM loom.memory_events
GROUP BY org, namespace;

CREATE MATERIALIZED VIEW IF NOT EXISTS loom.namespace_activity_extractions {on_cluster}
TO loom.namespace_activity AS
SELECT org, namespace, 'extraction' AS source, max(landed_at) AS landed_at
FROM loom.memory_extractions
GROUP BY org, namespace;

-- What landed before this table was made.
INSERT INTO loom.namespace_activity
SELECT org, namespace, if(entities_given = 0 AND sensitivity = 'normal', 'untagged', 'row'), max(landed_at)
FROM loom.memory GROUP BY 1, 2, 3;

INSERT INTO loom.namespace_activity
SELECT org, namespace, 'event', max(landed_at) FROM loom.memory_events GROUP BY org, namespace;

INSERT INTO loom.namespace_activity
SELECT org, namespace, 'extraction', max(landed_at) FROM loom.memory_extractions GROUP BY org, namespace;
