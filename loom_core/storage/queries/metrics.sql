-- last_outcomes --
SELECT worker, last_outcome, detail, count()
FROM loom.worker_runs FINAL
GROUP BY worker, last_outcome, detail

-- unreported_attempts --
SELECT `projection`, count()
FROM
(
    SELECT `projection`
    FROM loom.projection_attempts
    WHERE at >= fromUnixTimestamp64Micro({since:Int64}) AND at < fromUnixTimestamp64Micro({until:Int64})
    GROUP BY org, namespace, unit_id, `projection`, attempt_id
    HAVING max(ver) = 0
)
GROUP BY `projection`

-- unfinished_erasures --
SELECT step, count(), min(at)
FROM loom.erasures FINAL
WHERE step != 'swept'
GROUP BY step

-- spent_today --
SELECT model, count(), sum(input_tokens), sum(output_tokens), sum(cost_usd)
FROM loom.llm_spend FINAL
WHERE day = toDate(now('UTC'))
GROUP BY model

-- stored --
SELECT (SELECT count() FROM loom.memory), (SELECT count() FROM loom.memory_events),
       (SELECT count() FROM loom.memory_extractions), (SELECT count() FROM loom.projection_receipts),
       (SELECT count() FROM loom.entity_edges), (SELECT count() FROM loom.entity_triples)
