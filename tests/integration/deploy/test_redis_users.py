"""The fleet works under the Redis user of `deploy/redis/users.acl`, and that user can do nothing else."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from redis.exceptions import NoPermissionError

from loom_core.coordination.leases import EVERY_SHARD, Leases, held_since
from loom_core.coordination.tallies import Tallies
from loom_core.coordination.turns import Turns
from loom_core.coordination.wakeups import WakeMarks
from loom_core.embedded.redis import find_server, server_command
from loom_core.settings import Settings
from loom_core.tenancy import Scope
from tests.support.servers import free_port, wait_until
from workers.wake import make_wake

ROOT = Path(__file__).parents[3]
PASSWORD = "a password of the test"
QUEUE = "supersession_replay\x06\x163"
"""Its list of that priority, as kombu names it."""
ADMIN = "user admin on nopass allkeys allchannels +@all\n"
"""Only here: looks at the ACL log."""


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("redis")
    hashed = hashlib.sha256(PASSWORD.encode()).hexdigest()
    users = (ROOT / "deploy" / "redis" / "users.acl").read_text()
    assert users.count("LOOM_PASSWORD_SHA256") == 1
    (folder / "users.acl").write_text(users.replace("LOOM_PASSWORD_SHA256", hashed) + ADMIN)
    port = free_port()
    command = server_command(find_server(), folder, port)
    # The configuration that is shipped, with the test's own port and folder after it.
    options = [command[0], str(ROOT / "deploy" / "redis" / "redis.conf"), *command[1:]]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*options, "--aclfile", str(folder / "users.acl")], stdout=log, stderr=log)
    try:
        wait_until(lambda: _answers(port, process, folder / "log"), "Redis answers")
        yield port
    finally:
        process.terminate()
        process.wait(20)


def _answers(port: int, process: subprocess.Popen[bytes], log: Path) -> bool:
    assert process.poll() is None, log.read_text()
    try:
        return bool(_admin(port).ping())
    except redis.ConnectionError:
        return False


def _admin(port: int) -> redis.Redis:
    return redis.Redis(port=port, username="admin", password="", decode_responses=True)


def _refused(port: int) -> list[tuple[str, str, str]]:
    """What the ACL refused so far."""
    return [(entry["username"], entry["reason"], entry["object"]) for entry in _admin(port).acl_log()]


@pytest.fixture
def url(port: int) -> str:
    _admin(port).acl_log_reset()
    return f"redis://loom:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}/0"


@pytest.fixture
def client(url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(url, decode_responses=True) as client:
        yield client


def test_leases_marks_turns_tallies_and_cached_answers_work(client: redis.Redis, port: int) -> None:
    leases = Leases(client, 30)
    lease = leases.acquire("projection_retry", EVERY_SHARD)
    assert lease is not None and leases.renew(lease)
    assert len(held_since(client, "projection_retry", 2)) == 1
    assert not leases.release(lease)
    assert WakeMarks(client).set("projection_retry", 1)
    WakeMarks(client).clear("projection_retry", 1)
    turns = Turns(client, "projection_retry", 1)
    turns.serve(Scope("a", "b"))
    assert turns.order([Scope("a", "b"), Scope("a", "c")])[0] == Scope("a", "c")
    Tallies(client).add("projection_retry", "done", 1.0, handled=2)
    assert {tally.value for tally in Tallies(client).read()} == {1.0, 2.0}
    client.set("loom:llm-answer:x", b"[]", ex=60)
    assert client.get("loom:llm-answer:x") == "[]"
    assert client.info("server") and client.config_get("maxmemory-policy") == {
        "maxmemory-policy": "noeviction"
    }
    assert _refused(port) == []


def test_a_wake_up_goes_through_the_queue_to_a_worker_and_a_beat_sends_more(
    url: str, client: redis.Redis, port: int, tmp_path: Path
) -> None:
    """The worker has no ClickHouse, so its ticks end with `clickhouse_away`: that they are counted shows they ran."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LOOM_")} | {
        "LOOM_REDIS_URL": url,
        "LOOM_CLICKHOUSE_URL": f"http://127.0.0.1:{free_port()}",
        "TMPDIR": str(tmp_path),
    }
    wake = make_wake(Settings(redis_url=url))

    def queued() -> bool:
        return client.llen(QUEUE) == 1

    wake("supersession_replay", 3)
    wait_until(queued, "a wake-up is on the queue")
    celery = [sys.executable, "-m", "celery", "-A", "workers.app"]
    worker = ["worker", "--queues", "supersession_replay,projection_retry", "--concurrency", "1"]
    scheduled = ["beat", "--scheduler", "workers.alive:Scheduler", "--pidfile="]
    alive = tmp_path / "loom-alive"
    with (tmp_path / "log").open("wb") as log:
        processes = [
            subprocess.Popen([*celery, *words], env=environment, stdout=log, stderr=log)
            for words in ([*worker, "--include", "workers.alive"], scheduled)
        ]
    try:
        wait_until(
            lambda: (
                {("supersession_replay", "clickhouse_away"), ("projection_retry", "clickhouse_away")}
                <= {(tally.worker, tally.outcome) for tally in Tallies(client).read()}
            ),
            "both workers ticked",
            timeout_s=200,
        )
        wait_until(lambda: client.llen(QUEUE) == 0, "the queue is empty")
        assert time.time() - alive.stat().st_mtime < 60
        probe = [sys.executable, "-m", "workers.alive"]
        assert subprocess.run(probe, env=environment, timeout=60, check=False).returncode == 0
        os.utime(alive, (0, 0))
        wait_until(lambda: alive.stat().st_mtime > 0, "the loop goes round again", timeout_s=60)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(60)
    assert _refused(port) == [], (tmp_path / "log").read_text()[-3000:]


@pytest.mark.parametrize(
    "command",
    [
        ["FLUSHALL"], ["FLUSHDB"], ["KEYS", "*"], ["SCAN", "0"], ["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"],
        ["SHUTDOWN"], ["ACL", "LIST"], ["REPLICAOF", "NO", "ONE"], ["MODULE", "LIST"],
        ["SCRIPT", "FLUSH"], ["SAVE"], ["MONITOR"], ["MIGRATE", "h", "1", "k", "0", "1"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_command_that_the_fleet_does_not_need_is_refused(client: redis.Redis, command: list[str]) -> None:
    with pytest.raises(NoPermissionError):
        client.execute_command(*command)


@pytest.mark.parametrize("key", ["session:1", "celery", "loo", "unack"])
def test_a_key_of_somebody_else_is_refused_to_reads_writes_and_scripts(client: redis.Redis, key: str) -> None:
    for attempt in (
        lambda: client.get(key),
        lambda: client.set(key, "x"),
        lambda: client.eval("return redis.call('GET', KEYS[1])", 1, key),
    ):
        with pytest.raises(NoPermissionError):
            attempt()


def test_nobody_comes_in_without_a_password(port: int) -> None:
    with pytest.raises(redis.AuthenticationError), redis.Redis(port=port) as stranger:
        stranger.ping()
    with (
        pytest.raises(redis.AuthenticationError),
        redis.Redis(port=port, username="loom", password="x") as stranger,
    ):
        stranger.ping()
