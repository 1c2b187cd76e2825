"""What `/metrics` says of the fleet is what the tables hold, and a scrape outlives the stores."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import fakeredis
import pytest
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from loom_core import clock
from loom_core.coordination.leases import EVERY_SHARD, Leases
from loom_core.coordination.tallies import Tallies
from loom_core.errors import Unavailable
from loom_core.projection import attempts
from loom_core.projection.due import MARK as PROJECTION_MARK
from loom_core.server import fleet_metrics
from loom_core.server.fleet_metrics import FleetMetrics
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tagging.due import MARK as EXTRACTION_MARK
from loom_core.tenancy import Scope
from tests.support.servers import free_port
from tests.support.world import World

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def scraped(collector: FleetMetrics) -> Samples:
    """Every sample of the text that Prometheus would get, by name and labels."""
    registry = CollectorRegistry()
    registry.register(collector)
    text = generate_latest(registry).decode()
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[name, frozenset(labels.items())]


@pytest.fixture(scope="module", autouse=True)
def known_done(store: Store) -> None:
    """What other tests left waiting in this engine is done: a scrape would count it, namespace by namespace."""
    for mark in (PROJECTION_MARK, EXTRACTION_MARK):
        store.command(
            "INSERT INTO loom.work_marks (org, namespace, worker, mark, ver) "
            "SELECT DISTINCT org, namespace, {worker:String}, now64(6) + INTERVAL 1 SECOND, 1 "
            "FROM loom.namespace_activity",
            worker=mark,
        )


@pytest.fixture
def client() -> Iterator[fakeredis.FakeRedis]:
    with fakeredis.FakeRedis(decode_responses=True) as client:
        yield client


@pytest.fixture
def scrape(store: Store, client: fakeredis.FakeRedis) -> Any:
    return lambda **settings: scraped(FleetMetrics(store, client, Settings(**settings), wait_s=60))


FAILURE_COLUMNS = (
    "org", "namespace", "failure_id", "unit_id", "projection", "state", "first_failed_at", "ver"
)  # fmt: skip


@pytest.mark.parametrize("state", ["open", "resolved", "stale", "dead"])
@pytest.mark.parametrize(
    ("projection", "worker"),
    [
        ("edges", "projection_retry"),
        ("closes", "supersession_replay"),
        ("extraction", "entity_extractor"),
    ],
)
def test_a_failure_in_any_state_is_counted_for_its_worker(
    store: Store, scrape: Any, state: str, projection: str, worker: str
) -> None:
    before = value(scrape(), "loom_worker_failures", worker=worker, state=state)
    unit = uuid.uuid4().hex
    store.insert(
        "memory_projection_failures",
        FAILURE_COLUMNS,
        [["dev", f"n-{unit}", unit, unit, projection, state, clock.now() - 100 * clock.SECOND, 1]],
    )
    after = scrape()
    assert value(after, "loom_worker_failures", worker=worker, state=state) == before + 1
    if state == "open":
        assert value(after, "loom_worker_oldest_pending_seconds", worker=worker) >= 100


def test_an_untagged_row_waits_only_where_a_provider_reads_it(world: World, scrape: Any) -> None:
    before = scrape()
    world.set("k", "nobody named the billing service")
    after = scrape()
    named = "loom_untagged_namespaces"
    assert value(after, named) == value(before, named) + 1
    with_provider = scrape(llm_provider="spacy")
    assert value(with_provider, named) == 0
    pending = "loom_worker_pending"
    assert value(with_provider, pending, worker="entity_extractor") > value(
        after, pending, worker="entity_extractor"
    )


def test_only_a_try_that_never_reported_counts_as_crashed(store: Store, scrape: Any) -> None:
    scope = Scope("dev", uuid.uuid4().hex)
    short = {
        "tick_budget_s": 0.5,
        "tick_soft_limit_s": 2,
        "tick_hard_limit_s": 3,
        "entity_extract_timeout_s": 1,
    }
    name = "loom_attempts_unreported"
    before = value(scrape(**short), name, projection="edges")
    ended, crashed = (attempts.begin(store, scope, [unit], "edges") for unit in ("ended", "crashed"))
    attempts.finish(store, scope, ended, {"ended": attempts.FAILED})
    assert value(scrape(), name, projection="edges") == before, "by the usual limits it may still run"
    limit = time.monotonic() + 60
    while value(scrape(**short), name, projection="edges") != before + 1:
        assert time.monotonic() < limit, crashed
        time.sleep(0.2)


def test_an_erasure_under_way_is_seen_and_its_age(store: Store, scrape: Any) -> None:
    before = value(scrape(), "loom_erasures_pending", step="begun")
    store.insert(
        "erasures",
        ("org", "namespace", "erase_id", "step", "at", "ver"),
        [["dev", "n", uuid.uuid4().hex, "begun", clock.now() - 500 * clock.SECOND, 1]],
    )
    after = scrape()
    assert value(after, "loom_erasures_pending", step="begun") == before + 1
    assert value(after, "loom_erasures_oldest_pending_seconds", step="begun") >= 500


def test_what_models_cost_today_is_summed_by_model(store: Store, scrape: Any) -> None:
    model = uuid.uuid4().hex
    today = datetime.now(UTC).date()
    columns = ("day", "call_id", "org", "namespace", "model", "input_tokens", "output_tokens", "cost_usd")
    rows = [
        [today, "a" + model, "dev", "n", model, 10, 2, 0.5],
        [today, "b" + model, "dev", "n", model, 20, 3, None],
    ]
    store.insert("llm_spend", columns, rows)
    store.insert("llm_spend", columns, rows[:1])  # the same call stored twice is one call
    samples = scrape()
    assert value(samples, "loom_llm_calls_total", model=model) == 2
    assert value(samples, "loom_llm_tokens_total", model=model, direction="input") == 30
    assert value(samples, "loom_llm_tokens_total", model=model, direction="output") == 5
    assert value(samples, "loom_llm_cost_usd_total", model=model) == 0.5


def test_last_outcomes_carry_their_reason(store: Store, scrape: Any) -> None:
    shard = int(uuid.uuid4().int % 2**31)
    store.insert(
        "worker_runs",
        ("worker", "shard", "last_run_at", "last_outcome", "detail", "ver"),
        [["projection_retry", shard, clock.now(), "failed", f"Odd{shard}", 1]],
    )
    samples = scrape()
    labels = {"worker": "projection_retry", "outcome": "failed", "reason": f"Odd{shard}"}
    assert value(samples, "loom_worker_last_outcome_shards", **labels) == 1
    ran = value(samples, "loom_worker_last_run_timestamp_seconds", worker="projection_retry")
    assert ran == pytest.approx(time.time(), abs=60)


def test_ticks_and_leases_come_from_redis(client: fakeredis.FakeRedis, scrape: Any) -> None:
    tallies = Tallies(client)
    tallies.add("projection_retry", "done", seconds=1.5, handled=7, failed=1)
    tallies.add("projection_retry", "partial", seconds=1, handled=3)
    leases = Leases(client, 60)
    assert leases.acquire("projection_retry", 3) and leases.acquire("projection_retry", EVERY_SHARD)
    given_back = leases.acquire("projection_retry", 4)
    assert given_back is not None
    leases.release(given_back)
    samples = scrape()
    assert value(samples, "loom_worker_ticks_total", worker="projection_retry", outcome="done") == 1
    assert value(samples, "loom_worker_tick_seconds_total", worker="projection_retry", outcome="done") == 1.5
    assert value(samples, "loom_worker_items_total", worker="projection_retry", result="handled") == 10
    assert value(samples, "loom_worker_items_total", worker="projection_retry", result="failed") == 1
    assert value(samples, "loom_leases_held", worker="projection_retry") == 2
    assert 0 <= value(samples, "loom_lease_oldest_seconds", worker="projection_retry") < 60
    assert value(samples, "loom_leases_held", worker="entity_extractor") == 0


def test_stores_that_are_away_are_reported_and_nothing_is_guessed() -> None:
    nowhere = Settings(clickhouse_url=f"http://127.0.0.1:{free_port()}", clickhouse_connect_timeout_s=1)
    away = fakeredis.FakeRedis(server=_server_that_is_down())
    samples = scraped(FleetMetrics(Store(nowhere), away, nowhere, wait_s=60))
    assert value(samples, "loom_store_up") == 0
    assert value(samples, "loom_redis_up") == 0
    assert {name for name, _ in samples} == {"loom_store_up", "loom_redis_up", "loom_fleet_read_age_seconds"}


def _server_that_is_down() -> fakeredis.FakeServer:
    server = fakeredis.FakeServer()
    server.connected = False
    return server


class SlowStore:
    """Answers nothing until it is let go, then that it is away; counts how often it was asked."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.asked = 0

    def rows(self, *_: Any, **__: Any) -> Any:
        self.asked += 1
        self.let_go.wait(60)
        raise Unavailable("clickhouse_away", "gone")


def test_a_store_that_hangs_holds_up_no_scrape_and_is_asked_once() -> None:
    store = SlowStore()
    collector = FleetMetrics(store, None, Settings(), wait_s=0.05)  # type: ignore[arg-type]
    assert scraped(collector) == {}
    assert scraped(collector) == {}
    assert store.asked == 1
    store.let_go.set()
    limit = time.monotonic() + 30
    while not (samples := scraped(collector)):
        assert time.monotonic() < limit
    assert value(samples, "loom_store_up") == 0


def test_scrapes_in_quick_succession_read_once() -> None:
    store, clock_s = SlowStore(), [100.0]
    store.let_go.set()
    collector = FleetMetrics(store, None, Settings(), wait_s=30, now=lambda: clock_s[0])  # type: ignore[arg-type]
    scraped(collector)
    clock_s[0] += fleet_metrics.FRESH_S - 1
    assert value(scraped(collector), "loom_fleet_read_age_seconds") == fleet_metrics.FRESH_S - 1
    assert store.asked == 1
    clock_s[0] += 2
    assert value(scraped(collector), "loom_fleet_read_age_seconds") == 0
    assert store.asked == 2


def test_inserts_are_timed_by_table(store: Store) -> None:
    def count() -> float:
        return REGISTRY.get_sample_value("loom_insert_seconds_count", {"table": "namespace_walks"}) or 0

    before = count()
    store.insert("namespace_walks", ("org", "namespace", "day"), [["dev", "n", datetime.now(UTC).date()]])
    assert count() == before + 1
