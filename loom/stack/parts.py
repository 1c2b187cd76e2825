"""The children of the stack: their commands, each in one place."""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from loom.stack.child import ChildSpec
from loom_core.embedded import redis

_PYTHON = sys.executable
_CELERY = (_PYTHON, "-m", "celery", "-A", "workers.app")
_WORKER_STOP_S = 30.0


def clickhouse(folder: Path, port: int) -> ChildSpec:
    """The process that owns the chDB folder."""
    command = (_PYTHON, "-m", "loom_core.embedded.clickhouse", "--path", str(folder), "--port", str(port))
    return ChildSpec(
        "clickhouse", "clickhouse", command, is_ready=lambda: _answers(f"http://127.0.0.1:{port}/ping")
    )


def redis_server(folder: Path, port: int) -> ChildSpec:
    """The Redis-protocol server. Raises `Unavailable` where none is installed."""
    folder.mkdir(parents=True, exist_ok=True)
    command = redis.server_command(redis.find_server(), folder, port)
    return ChildSpec("redis", "redis", command, is_ready=lambda: redis.answers(f"redis://127.0.0.1:{port}/0"))


def migration(environment: Mapping[str, str]) -> ChildSpec:
    """The migrations, run to their end."""
    return ChildSpec(
        "migrate", "migrate", (_PYTHON, "-m", "loom.stack.migration"), environment, start_timeout_s=600
    )


def server(environment: Mapping[str, str], port: int) -> ChildSpec:
    """The HTTP server."""
    command = (_PYTHON, "-m", "loom_core.server", "--host", "127.0.0.1", "--port", str(port))
    return ChildSpec(
        "server", "server", command, environment, lambda: _answers(f"http://127.0.0.1:{port}/readyz")
    )


def worker(environment: Mapping[str, str], number: int) -> ChildSpec:
    """One Celery worker; pool and queues are the app's to say."""
    command = (*_CELERY, "worker", "--hostname", f"worker-{number}@%h")
    return ChildSpec(f"worker-{number}", "worker", command, environment, stop_timeout_s=_WORKER_STOP_S)


def beat(environment: Mapping[str, str], folder: Path) -> ChildSpec:
    """Celery's scheduler, its own file in the data folder."""
    command = (*_CELERY, "beat", "--schedule", str(folder / "beat-schedule"))
    return ChildSpec("beat", "beat", command, environment, lambda: any(folder.glob("beat-schedule*")))


def fleet_check(environment: Mapping[str, str], workers: int) -> ChildSpec:
    """Ends with 0 once so many workers have answered."""
    command = (_PYTHON, "-m", "loom.stack.fleet_check", str(workers))
    return ChildSpec("fleet-check", "fleet-check", command, environment, start_timeout_s=120)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
