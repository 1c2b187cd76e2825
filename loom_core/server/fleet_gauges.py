"""What the tables and Redis say of the fleet, as Prometheus metrics. Labels are never a tenant, a key or a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import redis
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from loom_core import clock
from loom_core.coordination.due import with_landings_since_mark
from loom_core.coordination.leases import held_since
from loom_core.coordination.tallies import Tallies
from loom_core.fleet_state import GATES, WORKERS, snapshot
from loom_core.memory.erase import BEGUN, DELETED
from loom_core.projection.units import PROJECTIONS
from loom_core.settings import Settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tagging.due import MARK, SOURCE

FAILURE_STATES = ("open", "resolved", "stale", "dead")
STORED = (
    "memory",
    "memory_events",
    "memory_extractions",
    "projection_receipts",
    "entity_edges",
    "entity_triples",
)
UNREPORTED_WINDOW_S = 3600
"""How far back attempts are looked at: bounds the search, and lets the alert end an hour after the last crash."""


def worker_metrics(store: Store, settings: Settings) -> Iterator[Metric]:
    """What each worker has before it, and when it last ran."""
    enabled = _gauge("loom_worker_enabled", "Whether the worker's gate is on", "worker")
    interval = _gauge("loom_worker_interval_seconds", "Seconds between the worker's beats", "worker")
    pending = _gauge(
        "loom_worker_pending", "Items that wait, failed ones that will be tried again included", "worker"
    )
    oldest = _gauge(
        "loom_worker_oldest_pending_seconds", "Age of the oldest item that waits, 0 if none", "worker"
    )
    failures = _gauge("loom_worker_failures", "Failures by state; open ones are retried", "worker", "state")
    last_run = _gauge(
        "loom_worker_last_run_timestamp_seconds", "When the worker last reported a tick, 0 if never", "worker"
    )
    for each in snapshot(store, settings):
        label = [each.worker]
        enabled.add_metric(label, each.enabled)
        interval.add_metric(label, getattr(settings, GATES[each.worker].replace("_enabled", "_interval_s")))
        pending.add_metric(label, each.backlog)
        oldest.add_metric(label, each.oldest_age_s or 0)
        last_run.add_metric(label, each.last_run.timestamp() if each.last_run else 0)
        for state in FAILURE_STATES:
            failures.add_metric([each.worker, state], each.failures.get(state, 0))
    yield from (enabled, interval, pending, oldest, failures, last_run)


def table_metrics(store: Store, settings: Settings) -> Iterator[Metric]:
    """Tries, ticks, erasures and rows, as the tables have them."""
    yield _counted(
        "loom_worker_last_outcome_shards", "Shards by how their last tick ended, and why",
        ("worker", "outcome", "reason"), store.rows(sql("metrics.last_outcomes")),
    )  # fmt: skip
    settled = clock.now() - settings.tick_hard_limit_s * clock.SECOND
    lines = store.rows(
        sql("metrics.unreported_attempts"), since=settled - UNREPORTED_WINDOW_S * clock.SECOND, until=settled
    )
    found = dict.fromkeys((*PROJECTIONS, "extraction"), 0) | dict(lines)
    yield _counted(
        "loom_attempts_unreported", "Tries of the last hour that never reported back: their process died",
        ("projection",), sorted(found.items()),
    )  # fmt: skip
    yield from _erasures(store)
    waiting = with_landings_since_mark(store, [SOURCE], MARK) if settings.llm_provider == "fake" else ()
    yield _single(
        "loom_untagged_namespaces",
        "Namespaces with untagged rows that no provider is set to read",
        len(waiting),
    )
    yield _counted(
        "loom_stored_rows", "Rows stored, those a merge will drop included", ("table",),
        zip(STORED, store.rows(sql("metrics.stored"))[0], strict=True),
    )  # fmt: skip
    yield from _spending(store, settings)


def _erasures(store: Store) -> Iterator[Metric]:
    """`begun` is under way or died; `deleted` waits for its second sweep."""
    lines = {step: (count, oldest) for step, count, oldest in store.rows(sql("metrics.unfinished_erasures"))}
    pending = _gauge("loom_erasures_pending", "Erasures that are not finished, by the last step done", "step")
    oldest_age = _gauge(
        "loom_erasures_oldest_pending_seconds", "Age of the oldest of them, 0 if none", "step"
    )
    for step in (BEGUN, DELETED):
        count, oldest = lines.get(step, (0, 0))
        pending.add_metric([step], count)
        oldest_age.add_metric([step], max(0, clock.now() - oldest) / clock.SECOND if count else 0)
    yield from (pending, oldest_age)


def _spending(store: Store, settings: Settings) -> Iterator[Metric]:
    """Sums over the UTC day: they start again at zero at midnight, as a counter may."""
    calls = CounterMetricFamily("loom_llm_calls", "Texts read by a model this UTC day", labels=["model"])
    tokens = CounterMetricFamily("loom_llm_tokens", "Tokens this UTC day", labels=["model", "direction"])
    cost = CounterMetricFamily(
        "loom_llm_cost_usd", "Cost this UTC day, where the price is known", labels=["model"]
    )
    for model, count, given, got, usd in store.rows(sql("metrics.spent_today")):
        calls.add_metric([model], count)
        tokens.add_metric([model, "input"], given)
        tokens.add_metric([model, "output"], got)
        cost.add_metric([model], usd or 0)
    yield from (calls, tokens, cost)
    yield _single(
        "loom_llm_daily_budget_usd",
        "Most that may be spent a UTC day, 0: no limit",
        settings.llm_daily_budget_usd,
    )


def redis_metrics(client: redis.Redis, settings: Settings) -> list[Metric]:
    """What ticks counted in Redis, and the leases. Raises `redis.RedisError` while it is away."""
    ticks = CounterMetricFamily("loom_worker_ticks", "Ticks by how they ended", labels=["worker", "outcome"])
    seconds = CounterMetricFamily(
        "loom_worker_tick_seconds", "Seconds spent in them", labels=["worker", "outcome"]
    )
    items = CounterMetricFamily(
        "loom_worker_items", "Items that ticks went through", labels=["worker", "result"]
    )
    sums: dict[tuple[str, str], float] = {}
    for tally in Tallies(client).read():
        if tally.name == "ticks":
            ticks.add_metric([tally.worker, tally.outcome], tally.value)
        elif tally.name == "seconds":
            seconds.add_metric([tally.worker, tally.outcome], tally.value)
        else:
            key = (tally.worker, tally.name)
            sums[key] = sums.get(key, 0) + tally.value
    for (worker, result), value in sorted(sums.items()):
        items.add_metric([worker, result], value)
    held = _gauge("loom_leases_held", "Leases held now", "worker")
    oldest = _gauge(
        "loom_lease_oldest_seconds", "Seconds since the oldest held lease was granted, 0 if none", "worker"
    )
    for worker in WORKERS:
        since = held_since(client, worker, settings.shards)
        held.add_metric([worker], len(since))
        oldest.add_metric([worker], max(0.0, clock.now() / clock.SECOND - min(since) / 1000) if since else 0)
    return [ticks, seconds, items, held, oldest]


def _gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=labels)


def _single(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=value)


def _counted(
    name: str, text: str, labels: Sequence[str], lines: Iterable[Sequence[Any]]
) -> GaugeMetricFamily:
    """A gauge from rows of label values with the value last."""
    found = _gauge(name, text, *labels)
    for *values, value in lines:
        found.add_metric([str(each) for each in values], value)
    return found
