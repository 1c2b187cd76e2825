"""`loom up` as a person runs it: the real stores, server and fleet."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import clickhouse_connect
import pytest
import redis

from tests.integration.stack.conftest import processes_of
from tests.support.recovery import note
from tests.support.servers import redis_server, wait_until

pytestmark = pytest.mark.fleet
READY_S = 120
END_S = 60


class Up:
    """A `loom up` in a folder of its own, on free ports."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        self.folder = folder
        self.errors = folder.with_name(folder.name + ".err")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("LOOM_")}
        command = [sys.executable, "-m", "loom", "up", "--data-dir", str(folder), "--port", "0", *options]
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True, env={**inherited, **environment}
            )

    def wait_ready(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("ready http://127.0.0.1:"), self.said()
        return line.split()[1]

    def said(self) -> str:
        return self.errors.read_text()

    def stack(self) -> dict:
        return json.loads((self.folder / "stack.json").read_text())

    def pid(self, name: str) -> int:
        return self.stack()["pids"][name]

    def clickhouse(self) -> clickhouse_connect.driver.client.Client:
        return clickhouse_connect.get_client(
            dsn=self.stack()["clickhouse_url"], autogenerate_session_id=False
        )

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(END_S)


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Callable[..., Up]]:
    started: list[Up] = []

    def start(*options: str, folder: Path | None = None, **environment: str) -> Up:
        started.append(Up(folder or tmp_path / "data", *options, **environment))
        return started[-1]

    yield start
    for stack in started:
        if stack.process.poll() is None:
            stack.process.kill()
            stack.process.wait()
        assert stack.process.stdout is not None
        stack.process.stdout.close()
        wait_until(lambda stack=stack: not processes_of(stack.folder), "nothing is left", 20)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def test_every_part_comes_back_after_kill_9_and_nothing_is_left_at_the_end(up: Callable[..., Up]) -> None:
    stack = up()
    url = stack.wait_ready()
    assert answers(f"{url}/readyz")
    assert set(stack.stack()["pids"]) == {"clickhouse", "redis", "server", "worker-1", "beat"}
    stack.clickhouse().command("CREATE TABLE kept (v UInt8) ENGINE = MergeTree ORDER BY v")
    stack.clickhouse().command("INSERT INTO kept VALUES (1)")
    for name in ("worker-1", "beat", "server", "redis", "clickhouse"):
        old = stack.pid(name)
        os.kill(old, signal.SIGKILL)
        wait_until(lambda name=name, old=old: stack.pid(name) != old, f"{name} is started again", 30)
    wait_until(lambda: answers(f"{url}/readyz"), "all of it answers again", READY_S)
    assert stack.clickhouse().command("SELECT sum(v) FROM kept") == 1
    assert stack.end() == 0
    assert processes_of(stack.folder) == []
    assert not (stack.folder / "stack.json").exists()


def test_kill_9_of_all_of_it_loses_nothing_and_leaves_nothing(up: Callable[..., Up], tmp_path: Path) -> None:
    stack = up("--no-fleet")
    stack.wait_ready()
    stack.clickhouse().command("CREATE TABLE kept (v UInt8) ENGINE = MergeTree ORDER BY v")
    stack.clickhouse().command("INSERT INTO kept VALUES (1)")
    redis.Redis.from_url(stack.stack()["redis_url"]).set("kept", "1")
    time.sleep(1.1)  # Redis flushes once a second
    stack.process.kill()
    since = time.monotonic()
    again = up("--no-fleet")  # without waiting for the end of the first
    again.wait_ready()
    note("stack_killed", time.monotonic() - since)
    assert again.clickhouse().command("SELECT sum(v) FROM kept") == 1
    assert redis.Redis.from_url(again.stack()["redis_url"]).get("kept") == b"1"
    second = up("--no-fleet")
    assert second.process.wait(END_S) == 1
    assert f"belongs to pid {again.process.pid}" in second.said()
    assert again.end(signal.SIGINT) == 0


def test_a_store_that_the_environment_names_is_used_and_not_ended(
    up: Callable[..., Up], tmp_path: Path
) -> None:
    with redis_server(tmp_path / "own-redis") as own:
        stack = up("--no-fleet", LOOM_REDIS_URL=f"{own.url}/0")
        stack.wait_ready()
        assert stack.stack()["redis_url"] == f"{own.url}/0"
        assert set(stack.stack()["pids"]) == {"clickhouse", "server"}
        assert stack.end() == 0
        assert own.process.poll() is None


def test_a_port_in_use_is_named(up: Callable[..., Up], tmp_path: Path) -> None:
    with redis_server(tmp_path / "other") as other:
        stack = up("--port", str(other.port))
        assert stack.process.wait(END_S) == 1
        assert f"port {other.port} is in use" in stack.said()


def test_a_store_for_one_process_is_refused(up: Callable[..., Up]) -> None:
    stack = up(LOOM_CLICKHOUSE_URL="chdb:///tmp/x")
    assert stack.process.wait(END_S) == 1
    assert "LOOM_CLICKHOUSE_URL" in stack.said()
