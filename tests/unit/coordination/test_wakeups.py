import redis

from loom_core.coordination.turns import Turns
from loom_core.coordination.wakeups import WakeMarks
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
    assert all(0 < client.pttl(key) <= 30_000 for key in client.keys("loom:wake:*"))


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
