"""Real stores for tests: started on a free port in a temporary folder, ended by the id of their process."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loom_core.embedded import redis

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 60.0


@dataclass
class ServerProcess:
    """A running server. `errors` is the file that its standard error goes to."""

    process: subprocess.Popen[bytes]
    url: str
    port: int
    errors: Path

    def stop(self) -> int:
        """SIGTERM, then the exit code. Fails where the process does not end."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_TIMEOUT_S)

    def kill(self) -> None:
        """SIGKILL: nothing of the process gets to run."""
        self.process.kill()
        self.process.wait(STOP_TIMEOUT_S)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = START_TIMEOUT_S) -> None:
    """Poll until `condition` holds; fail saying `what` was waited for."""
    deadline = time.monotonic() + timeout_s
    pause_s = 0.02
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout_s} s in vain until {what}")
        time.sleep(pause_s)
        pause_s = min(0.3, pause_s * 1.3)  # what is asked often takes the time of those who are waited for


def clickhouse_answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/ping", timeout=1) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def clickhouse_owner(folder: Path, *options: str) -> Iterator[ServerProcess]:
    """The process that owns the chDB folder `folder`."""
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "loom_core.embedded.clickhouse",
        "--path",
        str(folder),
        "--port",
        str(port),
    ]
    with _running([*command, *options], folder.with_name(folder.name + ".log"), port, "http") as server:
        wait_until(lambda: _alive(server) and clickhouse_answers(server.url), "the owner answers")
        yield server


@contextmanager
def redis_server(folder: Path) -> Iterator[ServerProcess]:
    """A valkey server with its data in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    command = redis.server_command(redis.find_server(), folder, port)
    with _running(command, folder.with_name(folder.name + ".log"), port, "redis") as server:
        wait_until(lambda: _alive(server) and redis.answers(server.url), "the Redis server answers")
        yield server


@contextmanager
def _running(command: list[str], errors: Path, port: int, scheme: str) -> Iterator[ServerProcess]:
    with errors.open("ab") as log:
        started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    server = ServerProcess(started, f"{scheme}://127.0.0.1:{port}", port, errors)
    try:
        yield server
    finally:
        process = server.process  # a test may have killed the first one and started another
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(STOP_TIMEOUT_S)


def _alive(server: ServerProcess) -> bool:
    code = server.process.poll()
    if code is not None:
        tail = server.errors.read_text(errors="replace")[-2000:]
        raise AssertionError(f"the server ended with {code}:\n{tail}")
    return True
