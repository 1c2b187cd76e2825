"""Redis dies, freezes, forgets, refuses: a delay, never a row."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
import redis

from loom_core.embedded.redis import find_server, server_command
from tests.support.fleet import Fleet
from tests.support.fleet_fixtures import bulk, tagged
from tests.support.recovery import recovered
from tests.support.servers import ServerProcess, redis_server, wait_until
from tests.support.world import World
from workers.registry import WORKERS

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(600)]

AWAY_S = 3.0
"""Long enough for worker and beat to notice."""
FROZEN_S = 40.0


@pytest.fixture
def own_redis(fleet: Fleet, tmp_path: Path) -> Iterator[ServerProcess]:
    """The fleet's, for this test alone."""
    with redis_server(tmp_path / "redis") as server:
        shared, fleet.redis = fleet.redis, server
        try:
            yield server
        finally:
            fleet.redis = shared


def start_again(server: ServerProcess, folder: Path) -> None:
    """On its port, with its data."""
    command = server_command(find_server(), folder, server.port)
    with server.errors.open("ab") as log:
        server.process = subprocess.Popen(command, stdout=log, stderr=log)
    client = redis.Redis.from_url(server.url)

    def answers() -> bool:
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False

    wait_until(answers, "Redis answers again")


@contextmanager
def killed(server: ServerProcess, folder: Path) -> Iterator[None]:
    server.kill()
    yield
    time.sleep(AWAY_S)
    start_again(server, folder)


@contextmanager
def emptied(server: ServerProcess, folder: Path) -> Iterator[None]:
    yield
    redis.Redis.from_url(server.url).flushall()


@contextmanager
def frozen(server: ServerProcess, folder: Path) -> Iterator[None]:
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        yield
        time.sleep(FROZEN_S)
    finally:
        os.kill(server.process.pid, signal.SIGCONT)


@contextmanager
def bounced(server: ServerProcess, folder: Path) -> Iterator[None]:
    for _ in range(3):
        server.kill()
        time.sleep(1)
        start_again(server, folder)
        time.sleep(1)
    yield


@contextmanager
def full(server: ServerProcess, folder: Path) -> Iterator[None]:
    client = redis.Redis.from_url(server.url)
    client.config_set("maxmemory", 1)
    with pytest.raises(redis.exceptions.OutOfMemoryError):
        client.set("any", "thing")
    yield
    time.sleep(AWAY_S)
    client.config_set("maxmemory", 0)


@contextmanager
def losing_messages(server: ServerProcess, folder: Path) -> Iterator[None]:
    """Someone takes each message and dies before it notes that it has it."""
    client = redis.Redis.from_url(server.url)
    lost, end = 0, time.monotonic() + AWAY_S
    yield
    queues = [key for key in client.scan_iter("*") if client.type(key) == b"list"]
    while time.monotonic() < end or not lost:
        queues += [spec.queue.encode() for spec in WORKERS if spec.queue.encode() not in queues]
        lost += sum(client.rpop(queue) is not None for queue in queues)
        time.sleep(0.001)


Trouble = Callable[[ServerProcess, Path], AbstractContextManager[None]]


@pytest.mark.parametrize(
    ("fault", "trouble"),
    [
        ("redis_killed", killed),
        pytest.param("redis_full", full, marks=pytest.mark.nightly),
        pytest.param("redis_emptied", emptied, marks=pytest.mark.nightly),
        pytest.param("messages_lost", losing_messages, marks=pytest.mark.nightly),
        pytest.param("redis_frozen", frozen, marks=pytest.mark.nightly),
        pytest.param("redis_bounced", bounced, marks=pytest.mark.nightly),
    ],
)
def test_trouble_with_redis_costs_a_delay_only(
    fleet: Fleet, own_redis: ServerProcess, town: World, tmp_path: Path, fault: str, trouble: Trouble
) -> None:
    """Invariant 5. Worker and beat live through it and are not started again."""
    fleet.environment |= {"LOOM_LLM_PROVIDER": "spacy", "LOOM_ENTITY_EXTRACT_BATCH": "8"}
    worker, beat = fleet.worker(), fleet.beat()
    bulk(town, 40)
    wait_until(lambda: tagged(town) >= 8, "it works")
    with trouble(own_redis, tmp_path / "redis"):
        bulk(town, 20, 40)
    healed = time.monotonic()
    bulk(town, 10, 60)
    recovered(fault, town, 70, healed)
    assert (worker.process.poll(), beat.process.poll()) == (None, None)


@pytest.mark.nightly
def test_a_worker_that_starts_while_redis_refuses_waits_for_it_and_asks_seldom(
    fleet: Fleet, own_redis: ServerProcess, town: World
) -> None:
    """As a Redis does whose disk is full: it answers, and refuses whatever changes anything."""
    client = redis.Redis.from_url(own_redis.url)
    client.config_set("min-replicas-to-write", 1)
    with pytest.raises(AssertionError, match="the worker is ready"):
        fleet.worker(ready_s=10)
    (worker,) = fleet.processes
    assert 1 <= worker.text.count("Cannot connect") <= 6
    client.config_set("min-replicas-to-write", 0)
    wait_until(lambda: " ready." in worker.text, "the worker is ready", 30)
