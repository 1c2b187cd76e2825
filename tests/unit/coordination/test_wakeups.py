import redis

from loom_core.coordination.turns import Turns
from loom_core.coordination.wakeups import CircuitBreaker, WakeMarks
from loom_core.tenancy import Scope

WORKER = "entity_extractor"


def test_a_burst_of_writes_sends_one_message_until_its_tick_begins(client: redis.Redis) -> None:
    marks = WakeMarks(client)
    assert [marks.set(WORKER, 1) for _ in range(1000)].count(True) == 1
    marks.clear(WORKER, 1)
    assert marks.set(WORKER, 1)


def test_a_mark_is_of_one_worker_and_shard_and_does_not_stay(client: redis.Redis) -> None:
    marks = WakeMarks(client)
    assert marks.set(WORKER, 1) and marks.set(WORKER, 2) and marks.set("projection_retry", 1)
    assert all(0 < client.pttl(key) <= 5_000 for key in client.keys("loom:wake:*"))


def test_a_service_that_fails_is_left_alone_for_longer_each_time() -> None:
    now = 0.0
    breaker = CircuitBreaker(1.0, 3.0, clock=lambda: now)
    tried_at = []
    for tick in range(200):
        now = tick / 10
        if breaker.allows():
            tried_at.append(now)
            breaker.failed()
    assert tried_at == [0.0, 1.0, 3.0, 6.0, 9.0, 12.0, 15.0, 18.0]


def test_one_caller_tries_while_others_pass_by_and_a_success_lets_all_in() -> None:
    now = 0.0
    breaker = CircuitBreaker(1.0, 10.0, clock=lambda: now)
    breaker.failed()
    now = 1.5
    assert [breaker.allows() for _ in range(5)] == [True, False, False, False, False]
    breaker.succeeded()
    assert all(breaker.allows() for _ in range(5))


def test_each_namespace_gets_its_turn(client: redis.Redis) -> None:
    scopes = [Scope("a", "x"), Scope("a", "y"), Scope("b", "x")]
    served = []
    for _ in range(5):
        turns = Turns(client, WORKER, 0)
        first = turns.order(reversed(scopes))[0]
        turns.serve(first)
        served.append(first)
    assert served == [*scopes, *scopes[:2]]


def test_the_turn_passes_on_where_the_namespace_served_last_is_done(client: redis.Redis) -> None:
    turns = Turns(client, WORKER, 0)
    turns.serve(Scope("a", "m"))
    assert turns.order([Scope("a", "b"), Scope("a", "z")]) == [Scope("a", "z"), Scope("a", "b")]
