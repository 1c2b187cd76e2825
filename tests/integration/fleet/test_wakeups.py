"""Leases and wake-ups on a real Redis: bursts, a server that hangs, and one that forgets everything."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from celery import Celery

from loom_core.coordination.connection import connect_redis
from loom_core.coordination.leases import Leases
from loom_core.coordination.wakeups import WakeMarks
from loom_core.settings import Settings
from tests.support.servers import ServerProcess, redis_server, wait_until
from workers import wake
from workers.wake import Sender

WORKER = "entity_extractor"
QUEUE = f"{WORKER}\x06\x166"
"""Its list of that priority, as kombu names it."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with redis_server(tmp_path / "redis") as server:
        yield server


@pytest.fixture
def settings(server: ServerProcess) -> Settings:
    return Settings(redis_url=f"{server.url}/0")


@pytest.fixture
def client(settings: Settings) -> redis.Redis:
    return connect_redis(settings)


@pytest.fixture
def sender(settings: Settings) -> Iterator[Sender]:
    sender = Sender(settings)
    yield sender
    sender.close()


def test_a_burst_of_writes_sends_one_message_a_tick(sender: Sender, client: redis.Redis) -> None:
    for _ in range(1000):
        sender.wake(WORKER, 3)
    wait_until(lambda: client.llen(QUEUE) > 0, "it is sent")
    for _ in range(1000):
        sender.wake(WORKER, 3)
    sender.close()
    assert client.llen(QUEUE) == 1
    message = json.loads(client.lindex(QUEUE, 0))
    assert message["headers"]["task"] == "workers.entity_extractor.sweep"
    assert message["headers"]["expires"]
    WakeMarks(client).clear(WORKER, 3)  # the tick begins
    sender.wake(WORKER, 3)
    wait_until(lambda: client.llen(QUEUE) == 2, "a row that lands later has a message of its own")


def test_a_redis_that_hangs_costs_a_write_nothing_and_gets_the_wake_ups_once_it_is_back(
    sender: Sender, server: ServerProcess, client: redis.Redis
) -> None:
    sender.wake(WORKER, 0)
    wait_until(lambda: client.llen(QUEUE) == 1, "it is sent")
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        took = []
        for shard in range(1, 40):
            began = time.monotonic()
            sender.wake(WORKER, shard)
            took.append(time.monotonic() - began)
        assert max(took) < 0.2
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    shards = lambda: {json.loads(each)["headers"]["kwargsrepr"] for each in client.lrange(QUEUE, 0, -1)}  # noqa: E731
    wait_until(lambda: len(shards()) == 40, "every shard's wake-up has gone out")


def test_a_message_that_could_not_be_sent_is_sent_later_although_its_mark_was_set(
    sender: Sender, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wake, "FIRST_PAUSE_S", 0.05)
    whole = Celery.send_task
    tries: list[int] = []

    def refuse_twice(*args: object, **more: object) -> object:
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError
        return whole(*args, **more)

    monkeypatch.setattr("celery.Celery.send_task", refuse_twice)
    sender.wake(WORKER, 1)
    wait_until(lambda: client.llen(QUEUE) == 1, "it goes out")
    assert len(tries) == 3


def test_tokens_grow_although_redis_forgot_them(settings: Settings, client: redis.Redis) -> None:
    leases = Leases(client, life_s=30)
    first = leases.acquire(WORKER, 0)
    assert first is not None
    client.flushall()
    second = leases.acquire(WORKER, 0)
    assert second is not None
    assert second.token > first.token
    assert not leases.renew(first)


def test_a_lease_that_nobody_renews_ends(client: redis.Redis) -> None:
    leases = Leases(client, life_s=0.3)
    assert leases.acquire(WORKER, 0) is not None
    assert Leases(client, life_s=0.3).acquire(WORKER, 0) is None
    wait_until(lambda: leases.acquire(WORKER, 0) is not None, "the lease has ended", 5)
