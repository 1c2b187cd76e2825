"""Much waits at once: it is done in batches, and the little is not kept waiting by the much."""

from __future__ import annotations

import time

import pytest

from loom_core.projection import failures
from tests.support.fleet import Fleet
from tests.support.fleet_fixtures import bulk, tagged
from tests.support.recovery import recovered
from tests.support.servers import wait_until
from tests.support.world import World, fault

pytestmark = [pytest.mark.fleet, pytest.mark.nightly, pytest.mark.timeout(1800)]


def test_ten_thousand_failures_are_all_mended(
    fleet: Fleet, town: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fault(monkeypatch, "edges:insert:raise"):
        for part in range(4):
            town.set_many(
                *(
                    {
                        "memory_key": f"k{part}/{n}",
                        "value": "text",
                        "entities": [f"alpha {part} {n}", "hub service"],
                    }
                    for n in range(2500)
                )
            )
    assert len(failures.listed(town.store, town.scope, [failures.OPEN], limit=20_000)) == 10_000
    since = time.monotonic()
    fleet.worker()
    fleet.beat()
    recovered("failures_pile_up", town, 10_000, since, timeout_s=900)


def test_ten_rows_are_done_within_two_ticks_beside_a_hundred_thousand(fleet: Fleet, town: World) -> None:
    """On one shard, in one process: nothing but the turns of the namespaces helps the ten."""
    large = World(town.store, town.settings)
    for part in range(20):
        bulk(large, 5000, 5000 * part)
    fleet.environment |= {"LOOM_LLM_PROVIDER": "spacy", "LOOM_SHARDS": "1", "LOOM_TICK_BUDGET_S": "20"}
    worker = fleet.worker()
    fleet.beat()
    wait_until(lambda: tagged(large) > 0, "the large one is read", 120)
    before, since = ticks(worker.text), time.monotonic()
    bulk(town, 10)
    wait_until(lambda: tagged(town) == 10, "the ten are read", 120)
    assert ticks(worker.text) - before <= 2
    recovered("large_tenant", town, 10, since)
    assert tagged(large) < 100_000


def ticks(log: str) -> int:
    """Ticks that ended with rows left, as all of the extractor's do beside a hundred thousand."""
    return log.count("'status': 'partial'")
