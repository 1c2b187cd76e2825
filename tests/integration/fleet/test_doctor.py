"""`loom doctor` on the fleet's own reports: who is silent is named, though nothing waits."""

from __future__ import annotations

import pytest

from loom_core import clock
from loom_core.coordination.leases import EVERY_SHARD
from loom_core.doctor import GOOD, LATE_INTERVALS, SHARDS_SEEN_S, WARN, Finding, _fleet, _shards
from loom_core.settings import Settings
from loom_core.storage.store import Store
from workers.tick import RUN_COLUMNS

WORKER = "supersession_replay"
INTERVAL_S = 60


def finding(store: Store, ago_s: float | None) -> Finding:
    store.command("TRUNCATE TABLE loom.worker_runs")
    if ago_s is not None:
        at = clock.now() - int(ago_s * clock.SECOND)
        store.insert("worker_runs", RUN_COLUMNS, [[WORKER, 0, at, "idle", 0, 0, 0.1, "", 1, 1]])
    settings = Settings(supersession_replay_interval_s=INTERVAL_S)
    (found,) = [each for each in _fleet(store, settings) if each.what == WORKER]
    return found


@pytest.mark.parametrize(
    ("ago_s", "verdict", "said"),
    [
        (None, WARN, "has never run"),
        (LATE_INTERVALS * INTERVAL_S + 5, WARN, "last ran "),
        (LATE_INTERVALS * INTERVAL_S - 20, GOOD, "0 waiting"),
    ],
)
def test_a_worker_that_has_not_run_for_long_is_named(
    store: Store, ago_s: float | None, verdict: str, said: str
) -> None:
    found = finding(store, ago_s)
    assert found.verdict == verdict
    assert found.found.startswith(said)


@pytest.mark.parametrize(
    ("shard", "ago_s", "verdict"),
    [
        (4, 10, WARN),
        (4, SHARDS_SEEN_S + 10, GOOD),
        (3, 10, GOOD),
        (EVERY_SHARD, 10, GOOD),
    ],
)
def test_a_fleet_with_more_shards_than_are_set_here_is_named(
    store: Store, shard: int, ago_s: int, verdict: str
) -> None:
    store.command("TRUNCATE TABLE loom.worker_runs")
    at = clock.now() - ago_s * clock.SECOND
    store.insert("worker_runs", RUN_COLUMNS, [[WORKER, shard, at, "idle", 0, 0, 0.1, "", 1, 1]])
    (found,) = _shards(store, Settings(shards=4))
    assert found.verdict == verdict
