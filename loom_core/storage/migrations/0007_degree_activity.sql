-- A batch of degrees that was frozen and never reported is looked for like any other input.

CREATE MATERIALIZED VIEW IF NOT EXISTS loom.namespace_activity_degree {on_cluster} TO loom.namespace_activity AS
SELECT org, namespace, 'degree' AS source, max(landed_at) AS landed_at
FROM loom.degree_units
GROUP BY org, namespace;

INSERT INTO loom.namespace_activity
SELECT org, namespace, 'degree', max(landed_at) FROM loom.degree_units GROUP BY org, namespace;

ALTER TABLE loom.namespace_activity {on_cluster} COMMENT COLUMN source
    'row, untagged (a row that an extractor may read), event, extraction, or degree (a frozen batch of degrees)';

ALTER TABLE loom.projection_receipts {on_cluster} COMMENT COLUMN unit_id
    'a memory id, an event id, x: and a memory id for its extraction, or batch: and the id of a batch of degrees';

ALTER TABLE loom.projection_attempts {on_cluster} COMMENT COLUMN outcome
    'empty while it runs; done, failed, refunded (the store was away), or lost (it never reported and was counted)';

ALTER TABLE loom.projection_attempts {on_cluster} COMMENT COLUMN `projection`
    'all (a retry), closes, or extraction';
