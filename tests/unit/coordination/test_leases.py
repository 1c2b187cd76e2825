import os
import subprocess
import sys
import time

import fakeredis
import pytest
import redis
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from loom_core.coordination import holders, leases
from loom_core.coordination.leases import Leases

WORKER = "entity_extractor"


@pytest.fixture
def fleet(client: redis.Redis) -> Leases:
    return Leases(client, life_s=30)


def test_one_holder_at_a_time(fleet: Leases) -> None:
    lease = fleet.acquire(WORKER, 3)
    assert lease is not None
    assert fleet.acquire(WORKER, 3) is None
    fleet.release(lease)
    assert fleet.acquire(WORKER, 3) is not None


@pytest.mark.parametrize(("worker", "shard"), [(WORKER, 4), ("projection_retry", 3)])
def test_a_lease_is_of_one_worker_and_one_shard(fleet: Leases, worker: str, shard: int) -> None:
    assert fleet.acquire(WORKER, 3) is not None
    assert fleet.acquire(worker, shard) is not None


def test_who_comes_in_vain_is_told_to_the_holder_once(fleet: Leases) -> None:
    first = fleet.acquire(WORKER, 0)
    assert first is not None
    fleet.acquire(WORKER, 0)
    assert fleet.release(first)
    second = fleet.acquire(WORKER, 0)
    assert second is not None
    assert not fleet.release(second)


def test_a_lease_that_ran_out_is_not_renewed_nor_is_its_successor_released(client: redis.Redis) -> None:
    fleet = Leases(client, life_s=0.05)
    late = fleet.acquire(WORKER, 0)
    assert late is not None
    _until(lambda: client.get("loom:lease:{entity_extractor:0}") is None)
    successor = Leases(client, life_s=30).acquire(WORKER, 0)
    assert successor is not None
    assert successor.token > late.token
    assert not fleet.renew(late)
    fleet.release(late)
    assert fleet.renew(successor)


def test_a_renewed_lease_lives_on(client: redis.Redis) -> None:
    lease = Leases(client, life_s=1).acquire(WORKER, 0)
    assert lease is not None
    assert Leases(client, life_s=60).renew(lease)
    assert client.pttl("loom:lease:{entity_extractor:0}") > 50_000


def test_the_lease_of_a_process_that_ended_is_taken_over_at_once(fleet: Leases, client: redis.Redis) -> None:
    child = subprocess.run(
        [sys.executable, "-c", "from loom_core.coordination.holders import this_process as t; print(t())"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    client.set("loom:lease:{entity_extractor:0}", child.stdout.strip() + "#nonce", px=60_000)
    assert fleet.acquire(WORKER, 0) is not None


def test_a_lease_that_could_not_be_given_back_is_taken_over_by_its_own_process(
    fleet: Leases, client: redis.Redis
) -> None:
    client.set(
        "loom:lease:{entity_extractor:0}", holders.this_process() + "#of-a-tick-that-is-over", px=60_000
    )
    assert fleet.acquire(WORKER, 0) is not None


@pytest.mark.parametrize(
    "holder",
    [
        pytest.param(lambda own: own, id="lives"),
        pytest.param(lambda own: "elsewhere|" + own.partition("|")[2], id="of another machine"),
        pytest.param(lambda own: "no name at all", id="unreadable"),
        pytest.param(lambda own: "", id="empty"),
    ],
)
def test_nobody_is_called_gone_without_knowledge(holder) -> None:  # type: ignore[no-untyped-def]
    assert not holders.is_gone(holder(holders.this_process()))


def test_a_reused_process_id_is_not_the_old_process() -> None:
    name, _, started = holders.this_process().rpartition("|")
    assert holders.is_gone(f"{name}|{int(started) - 1}")


def test_an_unreaped_child_is_gone() -> None:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, holders.this_process().encode())
        os._exit(0)
    name = os.read(read, 1000).decode()
    try:
        _until(lambda: holders.is_gone(name))
    finally:
        os.waitpid(pid, 0)


@examples(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(st.just("acquire"), st.just("lose everything"), st.integers(0, 2**50)),
        min_size=2,
        max_size=12,
    )
)
def test_tokens_only_grow_whatever_redis_forgets(steps: list[str | int]) -> None:
    """After a loss the tables' highest token is the floor, as a tick hands it in."""
    client = fakeredis.FakeRedis(decode_responses=True)
    fleet = Leases(client, life_s=30)
    given_out: list[int] = []
    for step in steps:
        if step == "lose everything":
            client.flushall()
        elif step == "acquire":
            lease = fleet.acquire(WORKER, 0, floor=max(given_out, default=0))
            if lease is not None:
                given_out.append(lease.token)
                fleet.release(lease)
        else:
            client.set("loom:fence:{entity_extractor:0}", step)
    assert given_out == sorted(set(given_out))


def test_the_token_outgrows_the_tables_when_the_clock_was_set_back(fleet: Leases) -> None:
    future = int(time.time() * 1000) + 10**9
    lease = fleet.acquire(WORKER, 0, floor=future)
    assert lease is not None
    assert lease.token == future + 1


def test_leases_held_here_are_forgotten_even_if_redis_is_away_at_the_release(fleet: Leases) -> None:
    lease = fleet.acquire(WORKER, 0)
    assert lease is not None
    fleet._release = lambda **_: (_ for _ in ()).throw(redis.ConnectionError())  # type: ignore[assignment]
    with pytest.raises(redis.ConnectionError):
        fleet.release(lease)
    assert lease.holder not in leases._held


def _until(condition, seconds: float = 5.0) -> None:  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)
