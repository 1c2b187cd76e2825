-- due_failures --
SELECT org, namespace, count()
FROM loom.memory_projection_failures FINAL
WHERE state = 'open' AND `projection` IN {projections:Array(String)}
  AND next_try_at <= fromUnixTimestamp64Micro({now:Int64})
GROUP BY org, namespace

-- landed_since_mark --
SELECT org, namespace, toUnixTimestamp64Micro(landed), toUnixTimestamp64Micro(known_done),
       toUnixTimestamp64Micro(now64(6, 'UTC'))
FROM
(
    SELECT org, namespace, max(landed_at) AS landed
    FROM loom.namespace_activity
    WHERE source IN {sources:Array(String)}
    GROUP BY org, namespace
) AS activity
LEFT JOIN
(
    SELECT org, namespace, max(mark) AS known_done
    FROM loom.work_marks
    WHERE worker = {worker:String}
    GROUP BY org, namespace
) AS marks USING (org, namespace)
WHERE landed > known_done

-- unfinished_erasures --
SELECT DISTINCT org, namespace
FROM loom.erasures FINAL
WHERE step = 'begun' OR (step = 'deleted' AND at < {settled:DateTime64(6, 'UTC')})

-- last_run --
SELECT last_run_at, last_outcome, fence
FROM loom.worker_runs FINAL
WHERE worker = {worker:String} AND shard = {shard:UInt32}

-- last_runs --
SELECT worker, max(last_run_at)
FROM loom.worker_runs
GROUP BY worker

-- failures_by_state --
SELECT `projection`, state, count(), min(first_failed_at)
FROM loom.memory_projection_failures FINAL
GROUP BY `projection`, state

-- counted --
SELECT count(), min(landed)
FROM ({search})
