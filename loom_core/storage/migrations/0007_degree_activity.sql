-- A batch of degrees that was frozen and never reported is looked for like any other input.

CREATE MATERIALIZED VIEW IF NOT EXISTS loom.namespace_activity_degree {on_cluster} TO loom.namespace_activity AS
SELECT org, namespace, 'degree' AS source, max(landed_at) AS landed_at
FROM loom.degree_units
GROUP BY org, namespace;

INSERT INTO loom.namespace_activity
SELECT org, namespace, 'degree', max(landed_at) FROM loom.degree_units GROUP BY org, namespace;
