"""What fails to project is named, logged, tried again, and ends as if nothing had happened."""

from __future__ import annotations

from contextlib import suppress

import pytest

from loom_core.errors import Unavailable
from loom_core.projection import failures
from loom_core.projection.replay import replay_closes
from loom_core.recovery.closes import replay_batch
from loom_core.recovery.retry import retry_batch
from loom_core.settings import Settings
from loom_core.storage.store import Store
from tests.support.short_form import briefly
from tests.support.world import World, fault

BILLING = ["billing service", "ledger database", "invoice"]
STEPS = [
    "mentions:insert", "edges:insert", "edges:inserted", "degree:freeze", "degree:frozen", "degree:added",
    "triples:insert", "triples:inserted", "closes:derive", "closes:insert", "closes:inserted", "facts:insert",
    "receipts:insert", "store:insert_entity_edges", "store:insert_entity_degree", "store:insert_entity_triples",
]  # fmt: skip
GRAPH = ("entity_edges", "entity_adjacency", "entity_edge_memories", "entity_edge_rows", "entity_triples",
         "entity_triple_adjacency", "entity_triple_memories", "entity_triple_rows", "entity_canonical_map")  # fmt: skip


@pytest.fixture
def world(store: Store) -> World:
    """Tries are due at once, and there are three of them."""
    return World(
        store,
        Settings(
            projection_retry_base_delay_s=0,
            projection_retry_orphan_after_s=0,
            projection_retry_max_attempts=3,
        ),
    )


def recover(world: World) -> None:
    """What projection_retry and supersession_replay do, until neither has anything due."""
    for _ in range(50):
        handled = [
            retry_batch(world.store, world.scope, world.settings),
            replay_batch(world.store, world.scope, world.settings),
        ]
        if not any(each.done or each.failed for each in handled):
            return
    raise AssertionError("still something due after 50 rounds")


def write(world: World) -> list[str]:
    """A row, a newer version of it and another row, so that every table has something to do."""
    degraded = list(
        world.set("k1", "a", BILLING, [["user", "live_in", "london"], ["user", "use", "redis"]]).degraded
    )
    degraded += world.set("k1", "b", BILLING[:2], [["user", "live_in", "london"]]).degraded
    degraded += world.set("k2", "c", BILLING, [["user", "live_in", "paris"]]).degraded
    return degraded


def assert_as_undisturbed(world: World) -> None:
    other = World(world.store, world.settings)
    write(other)
    for table in GRAPH:
        assert world.count(table) == other.count(table), table
    assert world.degrees() == other.degrees()
    assert world.objects() == other.objects()
    world.verified()


@pytest.mark.parametrize("step", STEPS)
def test_a_fault_at_a_step_ends_resolved_and_the_graph_as_if_undisturbed(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with fault(monkeypatch, f"{step}:raise"):
        degraded = write(world)
    assert degraded, "the fault was not reached"
    assert world.get("k1").value == "b", "the write itself must not fail"
    recover(world)
    assert_as_undisturbed(world)
    assert set(world.failures().values()) <= {failures.RESOLVED, failures.STALE}
    assert replay_closes(world.store, world.scope, None, 0, True, lambda *_: None) == []


@pytest.mark.parametrize(
    "step", briefly(STEPS, ("degree:added", "triples:inserted", "closes:insert", "receipts:insert"))
)
def test_a_retry_that_fails_half_way_five_times_adds_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """B37: counts must not grow with the tries."""
    world.settings = Settings(
        projection_retry_base_delay_s=0, projection_retry_orphan_after_s=0, projection_retry_max_attempts=50
    )
    with fault(monkeypatch, f"{step}:raise"):
        world.set("k1", "text", ["alpha", "beta"], [["alpha", "use", "beta"]])
        for _ in range(5):
            retry_batch(world.store, world.scope, world.settings)
            replay_batch(world.store, world.scope, world.settings)
    recover(world)
    assert world.related("alpha") == {"beta": 1}
    assert world.objects("alpha", "use") == {"beta": 1}
    assert world.degrees() == {"alpha": 1, "beta": 1}
    world.verified()


def test_the_tries_of_a_poison_row_end_dead_and_requeue_brings_it_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B60: fifty good rows and one whose projection always raises."""
    with fault(monkeypatch, "edges:insert:raise@poison"):
        for number in range(50):
            world.set(f"good{number}", "text", BILLING)
        world.set("poison", "text", ["alpha", "beta"])
        recover(world)
        [dead] = failures.listed(world.store, world.scope, [failures.DEAD])
        assert (dead.memory_key, dead.projection, dead.attempts, dead.error_class) == (
            "poison",
            "edges",
            3,
            "InjectedFault",
        )
        assert world.related("billing service")["ledger database"] == 50
    failures.requeue(world.store, world.scope, [dead])
    recover(world)
    assert world.failures()["poison", "edges"] == failures.RESOLVED
    assert world.related("alpha") == {"beta": 1}
    world.verified()


def test_a_failed_projection_of_an_old_value_never_becomes_current(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B67: the value changed before the retry; the failure is retired as stale."""
    with fault(monkeypatch, "edges:insert:raise"):
        assert world.set("k1", "v1", ["alpha", "beta"]).degraded == ["edges"]
    world.set("k1", "v2", ["gamma thing", "delta"])
    recover(world)
    assert world.related("alpha") == {}
    assert world.related("delta") == {"gamma thing": 1}
    assert world.failures() == {("k1", "edges"): failures.STALE}
    world.verified()


def test_a_row_whose_writer_died_before_projecting_is_found(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D34: no failure row was written, only the receipt is missing."""
    with fault(monkeypatch, "memory:landed:raise"), pytest.raises(Exception, match="fault at memory:landed"):
        world.set("k1", "text", ["alpha", "beta"])
    assert world.related("alpha") == {}
    recover(world)
    assert world.related("alpha") == {"beta": 1}
    assert world.failures() == {}
    world.verified()


def test_an_outage_of_the_store_is_not_a_try(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """D35."""
    insert = Store.insert

    def away(self: Store, table: str, *args: object, **kwargs: object) -> None:
        if table == "entity_edges":
            raise Unavailable("clickhouse_away", "gone for a walk")
        insert(self, table, *args, **kwargs)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Store, "insert", away)
        world.set("k1", "text", ["alpha", "beta"])
        for _ in range(5):
            with suppress(Unavailable):
                retry_batch(world.store, world.scope, world.settings)
    [failure] = failures.listed(world.store, world.scope)
    assert (failure.state, failure.attempts) == (failures.OPEN, 0)
    recover(world)
    assert world.related("alpha") == {"beta": 1}
