"""Workers and beats die, are paused, stopped, told everything twice: each row is done, once."""

from __future__ import annotations

import os
import signal
import time

import pytest

from loom_core.projection import failures
from tests.support.fleet import Fleet
from tests.support.fleet_fixtures import bulk, settled, tagged
from tests.support.llm_stub import LLMStub, Reply, naming, with_llm
from tests.support.recovery import note, recovered
from tests.support.servers import wait_until
from tests.support.world import World, fault
from workers.app import build_app

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(900)]

SMALL_BATCHES = {"LOOM_LLM_PROVIDER": "spacy", "LOOM_ENTITY_EXTRACT_BATCH": "4"}


def test_a_worker_killed_in_the_middle_loses_no_row_and_weighs_none_twice(fleet: Fleet, town: World) -> None:
    """B65. It hangs in a later batch, so that the kill finds it in the middle however fast it is."""
    fleet.environment |= SMALL_BATCHES
    bulk(town, 20)
    worker = fleet.worker(LOOM_TESTING="1", LOOM_FAULT="entity_extractor:answer:hang@k15")
    fleet.beat()
    wait_until(lambda: tagged(town) >= 4, "a batch is tagged")
    worker.kill()
    assert tagged(town) < 20
    since = time.monotonic()
    fleet.worker()
    recovered("worker_killed", town, 20, since)


@pytest.mark.nightly
def test_a_worker_that_does_not_end_in_its_time_is_killed_and_costs_no_more_than_any_killed_one(
    fleet: Fleet, town: World
) -> None:
    fleet.environment |= SMALL_BATCHES
    bulk(town, 20)
    worker = fleet.worker(LOOM_TESTING="1", LOOM_FAULT="entity_extractor:answer:hang")
    fleet.beat()
    wait_until(lambda: in_hand(town) > 0, "a batch is in hand")
    worker.process.terminate()
    time.sleep(3)
    assert worker.process.poll() is None, "it waits for its batch"
    worker.kill()
    since = time.monotonic()
    fleet.worker()
    recovered("worker_stopped", town, 20, since)


def in_hand(world: World) -> int:
    """Tries that are written down and not reported."""
    rows = world.store.rows(
        "SELECT count() FROM loom.projection_attempts FINAL WHERE org = {org:String} "
        "AND namespace = {namespace:String} AND outcome = ''",
        **world.names,
    )
    return int(rows[0][0])


@pytest.mark.parametrize("action", ["exit", pytest.param("hang", marks=pytest.mark.nightly)])
def test_a_row_that_kills_or_stops_its_process_dies_alone(fleet: Fleet, town: World, action: str) -> None:
    """Invariant 6: attempts are counted before the attempt."""
    if action == "hang":
        fleet.environment |= SHORT_LIMITS
    fleet.environment |= {
        "LOOM_LLM_PROVIDER": "spacy",
        "LOOM_ENTITY_EXTRACT_MAX_ATTEMPTS": "3",
        "LOOM_TESTING": "1",
        "LOOM_FAULT": f"entity_extractor:attempt:{action}@k3",
    }
    bulk(town, 8)
    worker = fleet.worker()
    fleet.beat()
    wait_until(lambda: bool(failures.listed(town.store, town.scope, [failures.DEAD])), "the row is dead", 120)
    wait_until(lambda: tagged(town) == 7, "its neighbours are tagged")
    (dead,) = failures.listed(town.store, town.scope, [failures.DEAD])
    assert (dead.memory_key, dead.attempts, dead.error_class) == ("k3", 3, "WorkerLost")
    assert worker.process.poll() is None, "the worker outlives its pool's processes"
    wait_until(lambda: settled(town), "nothing waits")
    town.verified()


SHORT_LIMITS = {
    "LOOM_TICK_BUDGET_S": "2", "LOOM_ENTITY_EXTRACT_TIMEOUT_S": "3", "LOOM_TICK_SOFT_LIMIT_S": "4",
    "LOOM_TICK_HARD_LIMIT_S": "60", "LOOM_LEASE_S": "61", "LOOM_VISIBILITY_TIMEOUT_S": "120",
}  # fmt: skip


@pytest.mark.nightly
def test_poison_rows_of_every_kind_among_a_hundred_die_alone(fleet: Fleet, town: World) -> None:
    """B60, B65. One kills its process, one stops it past its limit, one raises, to one the model answers rubbish."""

    def read(text: str) -> Reply:
        return Reply("no JSON at all") if "alpha_77 " in text else naming(text)

    with LLMStub(default=read) as stub:
        with_llm(fleet.environment, stub)
        fleet.environment |= SHORT_LIMITS | {
            "LOOM_TICK_BUDGET_S": "8",
            "LOOM_TICK_SOFT_LIMIT_S": "10",
            "LOOM_ENTITY_EXTRACT_MAX_ATTEMPTS": "2",
            "LOOM_TESTING": "1",
            "LOOM_FAULT": "entity_extractor:attempt:exit@k5,entity_extractor:attempt:hang@k33,"
            "entity_extractor:answer:raise@k55",
        }
        since = time.monotonic()
        bulk(town, 104)
        worker = fleet.worker()
        fleet.beat()
        wait_until(lambda: tagged(town) == 100, "the good ones are tagged", 600)
        wait_until(lambda: settled(town), "nothing waits", 300)
        note("poison_rows", time.monotonic() - since)
        dead = failures.listed(town.store, town.scope, [failures.DEAD])
        assert {each.memory_key for each in dead} == {"k5", "k33", "k55", "k77"}
        assert {each.attempts for each in dead} == {2}
        assert all(each.error_class for each in dead)
        assert worker.process.poll() is None
        town.verified()


def test_a_holder_that_is_paused_past_its_lease_and_goes_on_harms_nothing(fleet: Fleet, town: World) -> None:
    """Invariant 9."""
    fleet.environment |= SMALL_BATCHES
    bulk(town, 40)
    paused = fleet.worker("--hostname", "paused@%h")
    fleet.beat()
    wait_until(lambda: tagged(town) >= 4, "it works")
    (child,) = paused.children()
    os.kill(child, signal.SIGSTOP)
    assert tagged(town) < 40
    # As if the lease had run out: nobody renews it.
    for key in fleet.client().keys("loom:lease:*"):
        fleet.client().delete(key)
    fleet.worker("--hostname", "heir@%h")
    wait_until(lambda: tagged(town) == 40, "the heir has read all rows", 150)
    os.kill(child, signal.SIGCONT)
    since = time.monotonic()
    wait_until(lambda: "lease_lost" in paused.text or "succeeded" in paused.text, "the paused tick ends")
    recovered("holder_paused", town, 40, since)


def test_while_all_are_stopped_writes_go_on_and_what_waits_is_done_once_they_start(
    fleet: Fleet, town: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.environment |= SMALL_BATCHES
    with fault(monkeypatch, "edges:insert:raise"):
        town.set("failed", "text", E=["alpha failed", "hub service"])
    town.set("declared", "text", E=["alpha declared", "hub service"])
    assert town.related("hub service") == {"alpha declared": 1}
    bulk(town, 10)
    since = time.monotonic()
    fleet.worker()
    fleet.beat()
    recovered("all_stopped", town, 12, since)


@pytest.mark.nightly
def test_a_beat_that_starts_anew_every_few_seconds_starves_nobody(fleet: Fleet, town: World) -> None:
    """Nothing that a beat has to keep: what is due stands in the tables. None lives as long as its interval."""
    fleet.environment |= SMALL_BATCHES | {
        "LOOM_ENTITY_EXTRACT_INTERVAL_S": "3600",
        "LOOM_PROJECTION_RETRY_INTERVAL_S": "3600",
    }
    fleet.worker()
    since = time.monotonic()
    for count in range(1, 4):
        bulk(town, 10, 10 * count)
        beat = fleet.beat()
        wait_until(lambda count=count: tagged(town) == 10 * count, "what waited is read")  # type: ignore[misc]
        assert beat.stop() == 0
    fleet.beat()
    recovered("beat_restarts", town, 30, since)


def test_two_beats_and_every_message_five_times_weigh_nothing_twice(fleet: Fleet, town: World) -> None:
    fleet.environment |= {"LOOM_LLM_PROVIDER": "spacy", "LOOM_ENTITY_EXTRACT_BATCH": "16"}
    since = time.monotonic()
    bulk(town, 60)
    for _ in range(2):
        fleet.beat()
        fleet.worker("--hostname", f"{os.urandom(4).hex()}@%h")
    app = build_app(fleet.settings())
    for _ in range(6):
        for name in ("entity_extractor", "projection_retry"):
            for _ in range(5):
                app.send_task(f"workers.{name}.sweep")
        time.sleep(0.5)
    recovered("messages_repeated", town, 60, since)


@pytest.mark.parametrize(
    "remapped", [pytest.param(False, id="warm"), pytest.param(True, id="soft", marks=pytest.mark.nightly)]
)
def test_a_worker_that_is_told_to_stop_finishes_its_batch_and_reports_it(
    fleet: Fleet, town: World, remapped: bool
) -> None:
    with LLMStub(default=naming, latency_s=0.3) as stub:
        with_llm(fleet.environment, stub)
        fleet.environment |= {"LOOM_ENTITY_EXTRACT_BATCH": "4", "LOOM_ENTITY_EXTRACT_CONCURRENCY": "2"}
        bulk(town, 200)
        worker = fleet.worker(**({"REMAP_SIGTERM": "SIGQUIT"} if remapped else {}))
        fleet.beat()
        wait_until(lambda: tagged(town) >= 4, "it works")
        children = worker.children()
        began = time.monotonic()
        assert worker.stop() == 0
        assert time.monotonic() - began < 25
    assert all(not os.path.exists(f"/proc/{pid}") for pid in children)
    assert in_hand(town) == 0
    assert 4 <= tagged(town) < 200
