"""Failures, orphans, lost tries and closes, brought back by the workers' own batches on the real engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fakeredis
import pytest

from loom_core import clock
from loom_core.coordination.marks import lag
from loom_core.errors import Unavailable
from loom_core.projection import attempts, failures
from loom_core.projection.attempts import Batch
from loom_core.projection.due import waiting
from loom_core.projection.receipts import ALL
from loom_core.recovery import closes, retry
from loom_core.recovery.refunds import Refunds
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tenancy import Scope
from tests.support.world import World, fault

AT_ONCE = Settings(
    projection_retry_base_delay_s=0, projection_retry_orphan_after_s=0, projection_retry_max_attempts=3
)


@pytest.fixture
def world(store: Store) -> World:
    return World(store, AT_ONCE)


def raising(error: Exception) -> Callable[..., Any]:
    """A function that raises `error`."""

    def raises(*_: object) -> Any:
        raise error

    return raises


def sweep(world: World, most: int = 50) -> int:
    """Retries until nothing is due; returns the batches it took."""
    for batches in range(most):
        if not retry.retry_batch(world.store, world.scope, world.settings).more:
            return batches + 1
    raise AssertionError("a sweep that never ends")


def test_a_failed_projection_is_brought_back_and_its_failure_resolved(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fault(monkeypatch, "edges:insert:raise"):
        answer = world.set("k", "text", E=["alpha service", "beta service"])
    assert answer.degraded == ["edges"]
    assert not world.related("alpha service")
    sweep(world)
    assert world.related("alpha service") == {"beta service": 1}
    assert world.failures() == {("k", "edges"): "resolved"}
    world.verified()


@pytest.mark.parametrize("step", ["edges:inserted", "triples:insert", "degree:frozen", "degree:added"])
def test_five_retries_leave_what_one_clean_run_leaves(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """B37."""
    world.settings = AT_ONCE.model_copy(update={"projection_retry_max_attempts": 9})
    with fault(monkeypatch, f"{step}:raise"):
        world.set("k", "text", E=["alpha service", "beta service"], R=[["user", "own", "kestrel"]])
        for _ in range(5):
            sweep(world)
    sweep(world)
    assert world.related("alpha service") == {"beta service": 1}
    assert world.objects("user", "own") == {"kestrel": 1}
    assert world.degrees() == {"alpha service": 1, "beta service": 1}
    world.verified()


def test_a_row_that_always_fails_dies_with_its_reason_and_leaves_fifty_others_done(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B60."""
    with fault(monkeypatch, "edges:insert:raise"):
        for number in range(51):
            world.set(f"k{number}", "text", E=["hub service", f"leaf {number} service"])
    with fault(monkeypatch, "edges:insert:raise@k7"):
        for _ in range(4):
            sweep(world)
    assert len(world.related("hub service", top_k=200)) == 50
    (dead,) = failures.listed(world.store, world.scope, [failures.DEAD])
    assert (dead.memory_key, dead.projection, dead.attempts) == ("k7", "edges", 3)
    assert dead.error_class == "InjectedFault"
    assert sum(state == "resolved" for state in world.failures().values()) == 50


def test_a_dead_failure_that_is_requeued_has_all_its_tries_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fault(monkeypatch, "edges:insert:raise"):
        world.set("k", "text", E=["alpha service", "beta service"])
        for _ in range(4):
            sweep(world)
    dead = failures.listed(world.store, world.scope, [failures.DEAD])
    assert failures.requeue(world.store, world.scope, dead) == 1
    sweep(world)
    assert world.related("alpha service") == {"beta service": 1}


def test_a_failure_is_stale_once_the_row_has_another_value(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B67."""
    with fault(monkeypatch, "edges:insert:raise"):
        world.set("k1", "v1", E=["alpha service", "beta service"])
    world.set("k1", "v2", E=["gamma service", "delta service"])
    sweep(world)
    assert not world.related("alpha service")
    assert world.related("gamma service") == {"delta service": 1}
    assert world.failures() == {("k1", "edges"): "stale"}
    world.verified()


def test_a_row_whose_process_died_before_projecting_is_found_without_a_failure(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D34."""
    with monkeypatch.context() as patch:
        patch.setattr("loom_core.memory.writer.Writer.project", lambda *_: [])
        world.set("k", "text", E=["alpha service", "beta service"])
    assert world.scope in retry.due_scopes(world.store, world.settings)
    sweep(world)
    assert world.related("alpha service") == {"beta service": 1}
    assert world.failures() == {}


def test_an_orphan_two_values_back_leaves_what_a_clean_run_leaves(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D13: where a process died does not show, not even in the past."""
    with monkeypatch.context() as patch:
        patch.setattr("loom_core.memory.writer.Writer.project", lambda *_: [])
        world.set("k", "v1", E=["alpha service", "beta service"])
        world.set("k", "v2", E=["alpha service", "gamma service"])
    world.set("k", "v3", E=["alpha service", "delta service"])
    sweep(world)
    assert world.related("alpha service") == {"delta service": 1}
    first, second, _ = reversed([each.created_at for each in world.history("k")])
    assert world.related("alpha service", as_of=first) == {"beta service": 1}
    assert world.related("alpha service", as_of=second) == {"gamma service": 1}
    world.verified()


def test_a_store_that_is_away_spends_no_try(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """D35."""
    with fault(monkeypatch, "edges:insert:raise"):
        world.set("k", "text", E=["alpha service", "beta service"])
    with monkeypatch.context() as patch:
        patch.setattr(retry, "project", raising(Unavailable("clickhouse_away", "away")))
        for _ in range(5):
            with pytest.raises(Unavailable):
                retry.retry_batch(world.store, world.scope, world.settings)
    (failure,) = failures.listed(world.store, world.scope)
    assert (failure.state, failure.attempts) == ("open", 1)
    sweep(world)
    assert world.related("alpha service") == {"beta service": 1}


@pytest.mark.parametrize("step", ["begin", "work", "finish"])
def test_a_try_that_could_not_even_be_given_back_is_owed_until_the_store_is_there_again(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """D35. The record of the try stands, and its report finds the store away."""
    with fault(monkeypatch, "edges:insert:raise"):
        world.set("k", "text", E=["alpha service", "beta service"])
    redis = fakeredis.FakeRedis(decode_responses=True)
    write = attempts._write

    def write_until_away(store: Store, scope: Scope, batch: Batch, ends: dict[str, str], ver: int) -> None:
        if ver == 0:
            write(store, scope, batch, ends, ver)
        if ver == 1 or step == "begin":
            raise Unavailable("clickhouse_away", "away")

    with monkeypatch.context() as patch:
        patch.setattr(attempts, "_write", write_until_away)
        if step == "work":
            patch.setattr(retry, "project", raising(Unavailable("clickhouse_away", "away")))
        with pytest.raises(Unavailable):
            retry.retry_batch(world.store, world.scope, world.settings)
        Refunds(redis, "projection_retry", 3).note(attempts.take_owed())
        with pytest.raises(Unavailable):
            Refunds(redis, "projection_retry", 3).pay(world.store)
        Refunds(redis, "projection_retry", 3).note(attempts.take_owed())
    redis.rpush(redis.keys()[0], "not JSON", "[]", '{"scope": {}, "batch": {"no": "such field"}}')
    Refunds(redis, "projection_retry", 3).pay(world.store)
    assert redis.keys() == []
    with fault(monkeypatch, "edges:insert:raise"):
        sweep(world, 1)
    (failure,) = failures.listed(world.store, world.scope)
    assert (failure.projection, failure.attempts) == ("edges", 2)
    sweep(world)
    world.verified()


def test_a_sweep_goes_on_after_a_batch_that_held_degrees_as_well(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "BATCH", 2)
    for key in ("a", "b", "c"):
        world.set(key, "text", E=["hub service", f"{key} service name"])
    world.store.command(
        "ALTER TABLE loom.projection_receipts DELETE WHERE org = {org:String} AND namespace = {namespace:String} "
        "AND (startsWith(unit_id, 'batch:') OR unit_id = {row:String})",
        row=world.get("c").memory_id,
        **world.names,
    )
    assert waiting(world.store, world.scope) == 4
    sweep(world)
    assert waiting(world.store, world.scope) == 0
    assert world.degrees()["hub service"] == 3


def lose(world: World, keys: list[str], projection: str = ALL) -> None:
    """As if a process had begun a try of these rows together and died."""
    ids = [world.get(key).memory_id for key in keys]
    attempts.begin(world.store, world.scope, [str(id_) for id_ in ids], projection)


def test_rows_lost_together_are_tried_alone_and_only_the_poison_one_spends_its_tries(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fault(monkeypatch, "edges:insert:raise"):
        for key in ("a", "b", "poison"):
            world.set(key, "text", E=["hub service", f"{key} service name"])
    lose(world, ["a", "b", "poison"])
    tried: list[list[str]] = []
    whole = retry.project

    def project(store: Store, scope: Scope, units: list) -> object:  # type: ignore[type-arg]
        tried.append([unit.memory_key for unit in units])
        if any(unit.memory_key == "poison" for unit in units):
            raise KeyboardInterrupt  # the process is gone: nothing after this runs
        return whole(store, scope, units)

    monkeypatch.setattr(retry, "project", project)
    for _ in range(12):
        try:
            retry.retry_batch(world.store, world.scope, world.settings)
        except KeyboardInterrupt:
            continue
    assert all(len(batch) == 1 for batch in tried)
    assert tried.count(["poison"]) == 2, "one try in company and two alone are the three there are"
    states = {(f.memory_key, f.projection): f.state for f in failures.listed(world.store, world.scope, [
        "open", "dead", "resolved"])}  # fmt: skip
    assert states["poison", ALL] == states["poison", "edges"] == "dead"
    assert {states[key, name] for key in "ab" for name in (ALL, "edges")} == {"resolved"}


def test_one_lost_try_in_company_kills_no_row_even_if_one_try_is_all_there_is(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.settings = AT_ONCE.model_copy(update={"projection_retry_max_attempts": 1})
    with monkeypatch.context() as patch:
        patch.setattr("loom_core.memory.writer.Writer.project", lambda *_: [])
        for key in ("a", "b"):
            world.set(key, "text", E=["hub service", f"{key} service name"])
    lose(world, ["a", "b"])
    sweep(world)
    assert len(world.related("hub service")) == 2


@pytest.mark.parametrize(("stated_since", "current"), [([], {"london"}), (["berlin"], {"berlin"})])
def test_an_undo_whose_close_failed_is_replayed_as_of_its_own_instant(
    world: World, monkeypatch: pytest.MonkeyPatch, stated_since: list[str], current: set[str]
) -> None:
    """ "A failed close is replayed as of the write or Undo that made it, so a value stated since stays"."""
    world.set("home", "London", R=[["user", "live_in", "london"]])
    world.set("home2", "Paris", R=[["user", "live_in", "paris"]])
    with fault(monkeypatch, "closes:insert:raise"):
        world.restore("home", version=1)
    assert set(world.objects()) == {"paris"}
    for city in stated_since:
        world.set("home3", city, R=[["user", "live_in", city]])
    while closes.replay_batch(world.store, world.scope, world.settings).more:
        pass
    assert set(world.objects()) == current
    world.verified()


def test_a_failed_close_is_replayed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.set("k1", "text", R=[["user", "live_in", "london"]])
    with fault(monkeypatch, "closes:insert:raise"):
        assert world.set("k2", "text", R=[["user", "live_in", "paris"]]).degraded == ["closes"]
    assert world.scope in closes.due_scopes(world.store)
    assert closes.replay_batch(world.store, world.scope, world.settings).done == 1
    assert world.objects() == {"paris": 1}
    assert world.failures() == {("k2", "closes"): "resolved"}
    world.verified()


def test_a_close_that_always_fails_dies_and_hurts_no_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fault(monkeypatch, "closes:insert:raise"):
        for number in range(4):
            world.set(f"k{number}", "text", R=[[f"person {number} name", "live_in", "paris"]])
    with fault(monkeypatch, "closes:insert:raise@k2"):
        for _ in range(5):
            closes.replay_batch(world.store, world.scope, world.settings)
    states = world.failures()
    assert states.pop(("k2", "closes")) == "dead"
    assert set(states.values()) == {"resolved"}


def test_where_nothing_is_due_the_mark_follows_and_a_landing_makes_the_namespace_due(world: World) -> None:
    world.set("k", "text", E=["alpha service", "beta service"])
    sweep(world)
    marks = world.store.rows(
        "SELECT max(mark) FROM loom.work_marks WHERE org = {org:String} AND namespace = {namespace:String}",
        **world.names,
    )
    assert marks[0][0] > clock.now() - 60 * clock.SECOND - lag()
    world.set("k", "other text", E=["alpha service", "gamma service"])
    assert world.scope in retry.due_scopes(world.store, world.settings)


def test_an_erasure_that_died_is_finished(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.set("k", "text", E=["alpha service", "beta service"])
    with fault(monkeypatch, "erase:step:raise"), pytest.raises(Exception, match="erase"):
        world.erase("k")
    assert world.scope in retry.due_scopes(world.store, world.settings)
    sweep(world)
    assert world.count("memory") == world.count("entity_edges") == 0


def test_a_retry_brings_nothing_back_that_was_erased(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """B72."""
    with fault(monkeypatch, "edges:insert:raise"):
        world.set("k", "text", E=["alpha service", "beta service"])
    world.erase("k")
    sweep(world)
    assert not world.related("alpha service")
    assert world.failures() == {}
