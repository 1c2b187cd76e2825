from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from loom_core.coordination.shards import shard_of
from loom_core.coordination.tallies import Tallies
from loom_core.coordination.work import Handled
from loom_core.errors import Unavailable
from loom_core.settings import Settings
from loom_core.tenancy import Scope
from workers import process
from workers.tick import EVERY_SHARD, fan_out, tick

SMALL, LARGE, THIRD = Scope("a", "small"), Scope("b", "large"), Scope("c", "third")
HOUR = Settings(shards=1, tick_budget_s=0.3)


def test_a_tick_drains_what_is_due_and_reports_last(bench: Callable) -> None:
    it = bench({SMALL: 25})
    assert tick(it.spec, it.parts, 0) == {"status": "done", "handled": 25, "failed": 0}
    run = it.runs.runs["entity_extractor", 0]
    assert (run["last_outcome"], run["handled"], run["ver"]) == ("done", 25, run["fence"])
    assert not it.woken
    assert tick(it.spec, it.parts, 0)["status"] == "idle"


def test_ten_rows_beside_a_hundred_thousand_are_done_within_one_tick(bench: Callable) -> None:
    def slow(_: Scope) -> None:
        time.sleep(0.02)

    it = bench({LARGE: 100_000, SMALL: 10}, on_batch=slow, settings=HOUR)
    assert tick(it.spec, it.parts, 0)["status"] == "partial"
    assert it.work.rows[SMALL] == 0
    assert it.woken == [("entity_extractor", 0)]


def test_a_batch_that_takes_a_whole_tick_keeps_the_others_waiting_for_one_round_only(bench: Callable) -> None:
    it = bench({SMALL: 10, LARGE: 100_000, THIRD: 10}, on_batch=lambda _: time.sleep(0.31), settings=HOUR)
    for _ in range(3):
        tick(it.spec, it.parts, 0)
    assert set(it.work.served) == {SMALL, LARGE, THIRD}


def test_a_namespace_whose_batch_kills_the_process_is_not_first_again(bench: Callable) -> None:
    def killed(scope: Scope) -> None:
        if scope == SMALL:
            raise KeyboardInterrupt

    it = bench({SMALL: 10, LARGE: 20}, on_batch=killed)
    with pytest.raises(KeyboardInterrupt):
        tick(it.spec, it.parts, 0)
    it.parts.redis.delete("loom:lease:{entity_extractor:0}")
    with pytest.raises(KeyboardInterrupt):
        tick(it.spec, it.parts, 0)
    assert it.work.rows[LARGE] == 10, "the other namespace had its turn before"


def test_what_goes_wrong_in_one_namespace_does_not_stop_the_next(bench: Callable) -> None:
    def wrong(scope: Scope) -> None:
        if scope == SMALL:
            raise ZeroDivisionError

    it = bench({SMALL: 10, LARGE: 20}, on_batch=wrong)
    answer = tick(it.spec, it.parts, 0)
    assert answer["status"] == "failed"
    assert it.work.rows[LARGE] == 0
    assert it.runs.runs["entity_extractor", 0]["detail"] == "ZeroDivisionError"


def test_a_store_that_is_away_ends_the_tick_without_waking_it_again(bench: Callable) -> None:
    def away(_: Scope) -> None:
        raise Unavailable("clickhouse_away", "gone")

    it = bench({SMALL: 10, LARGE: 20}, on_batch=away)
    assert tick(it.spec, it.parts, 0)["status"] == "failed"
    assert len(it.work.served) == 1
    assert it.runs.runs["entity_extractor", 0]["detail"] == "clickhouse_away"
    assert not it.woken


def test_the_soft_limit_ends_the_tick_and_gives_the_lease_back(bench: Callable) -> None:
    def late(_: Scope) -> None:
        raise process.OutOfTime

    it = bench({SMALL: 10}, on_batch=late)
    assert tick(it.spec, it.parts, 0)["status"] == "failed"
    assert it.parts.redis.keys("loom:lease:*") == []


def test_a_tick_finds_the_lease_taken_and_touches_nothing(bench: Callable) -> None:
    it = bench({SMALL: 10})
    assert it.parts.leases.acquire("entity_extractor", 0) is not None
    assert tick(it.spec, it.parts, 0) == {"status": "busy"}
    assert not it.work.served
    assert not it.runs.runs


def test_who_came_while_it_worked_is_not_forgotten(bench: Callable) -> None:
    """A wake-up that finds the lease taken may be of a row that the holder has looked past already."""
    it = bench({SMALL: 10}, on_batch=lambda _: tick(it.spec, it.parts, 0) and None)
    assert tick(it.spec, it.parts, 0)["status"] == "done"
    assert it.woken == [("entity_extractor", 0)]


def test_a_holder_that_was_paused_past_its_lease_stops_and_cannot_overwrite_its_heir(bench: Callable) -> None:
    it = bench({SMALL: 30})
    heirs: list[dict] = []

    def paused(_: Scope) -> None:
        if not heirs:
            heirs.append({})
            it.parts.redis.delete("loom:lease:{entity_extractor:0}")
            heirs[0] = tick(it.spec, it.parts, 0)

    it.work.on_batch = paused
    assert tick(it.spec, it.parts, 0)["status"] == "lease_lost"
    assert heirs[0]["status"] == "done"
    assert it.runs.runs["entity_extractor", 0]["last_outcome"] == "done"


def test_a_provider_that_said_when_to_come_back_is_left_alone_till_then(bench: Callable) -> None:
    asked: list[float] = []

    def limited(_: Scope) -> Handled | None:
        asked.append(time.monotonic())
        return Handled(done=1, more=True, wait_s=0.2) if len(asked) == 1 else None

    it = bench({SMALL: 10}, on_batch=limited)
    tick(it.spec, it.parts, 0)
    assert len(asked) == 2
    assert asked[1] - asked[0] >= 0.2


def test_a_wait_longer_than_the_tick_ends_it(bench: Callable) -> None:
    it = bench({SMALL: 10}, on_batch=lambda _: Handled(more=True, wait_s=3600))
    began = time.monotonic()
    tick(it.spec, it.parts, 0)
    assert time.monotonic() - began < 5
    assert not it.woken, "the beat comes back, a wake-up would only spin"


def test_a_batch_that_moves_nothing_is_not_tried_again_in_the_same_tick(bench: Callable) -> None:
    it = bench({SMALL: 10}, on_batch=lambda _: Handled(more=True))
    tick(it.spec, it.parts, 0)
    assert len(it.work.served) == 1


def test_a_tick_that_is_asked_to_stop_ends_with_the_batch_in_hand(bench: Callable) -> None:
    it = bench({SMALL: 100}, on_batch=lambda _: process.stopping.set())
    assert tick(it.spec, it.parts, 0) == {"status": "partial", "handled": 10, "failed": 0}
    assert it.woken, "another process goes on with it"


def test_a_sweep_without_a_shard_wakes_only_shards_with_something_due(bench: Callable) -> None:
    settings = Settings(shards=64)
    scopes = {Scope("org", str(n)): n % 2 for n in range(40)}
    it = bench(scopes, settings=settings)
    fan_out(it.spec, it.parts)
    assert it.woken == [
        ("entity_extractor", shard) for shard in sorted({shard_of(s, 64) for s, due in scopes.items() if due})
    ]
    assert it.runs.runs["entity_extractor", EVERY_SHARD]["last_outcome"] == "done"
    assert not it.work.served


def test_a_shard_serves_its_own_namespaces_only(bench: Callable) -> None:
    settings = Settings(shards=4)
    it = bench({Scope("org", str(n)): 10 for n in range(40)}, settings=settings)
    tick(it.spec, it.parts, 2)
    assert it.work.served
    assert {shard_of(scope, 4) for scope in it.work.served} == {2}


def test_redis_away_is_an_answer_not_an_error(bench: Callable) -> None:
    it = bench({SMALL: 10})
    vars(it.parts)["redis"] = redis.Redis(port=1, socket_connect_timeout=0.1, retry=Retry(NoBackoff(), 0))
    assert tick(it.spec, it.parts, 0) == {"status": "redis_away"}
    assert not it.work.served


def test_ticks_are_counted_by_outcome(bench: Callable) -> None:
    it = bench({SMALL: 25})
    tick(it.spec, it.parts, 0)
    tick(it.spec, it.parts, 0)
    sums = {(t.outcome, t.name): t.value for t in Tallies(it.parts.redis).read()}
    assert sums["done", "ticks"] == sums["idle", "ticks"] == 1
    assert sums["done", "handled"] == 25


def test_a_tick_whose_report_is_lost_has_done_its_work_all_the_same(
    bench: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = bench({SMALL: 10})

    def away(*_: object) -> None:
        raise Unavailable("clickhouse_away", "gone")

    monkeypatch.setattr(it.runs, "insert", away)
    assert tick(it.spec, it.parts, 0)["status"] == "done"
    assert it.parts.redis.keys("loom:lease:*") == []
