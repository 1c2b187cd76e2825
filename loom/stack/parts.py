"""The children of the stack: their commands, each in one place."""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from loom.stack.child import READY_FILE, ChildSpec
from loom_core.embedded import redis

_PYTHON = sys.executable
_CELERY = (_PYTHON, "-m", "celery", "-A", "workers.app")
_ANNOUNCE = "loom.stack.announce"
_FLEET_START_S = 120.0
"""Celery imports for seconds, longer where machine and disk are cold."""
_WORKER_STOP_S = 30.0
_STORE, _USER = "store", "user of the stores"
"""Roles: the stores end when nobody uses them any more."""


def clickhouse(folder: Path, port: int) -> ChildSpec:
    """The process that owns the chDB folder."""
    command = (_PYTHON, "-m", "loom_core.embedded.clickhouse", "--path", str(folder), "--port", str(port))
    return ChildSpec(
        "clickhouse", _STORE, command, is_ready=lambda: _answers(f"http://127.0.0.1:{port}/ping")
    )


def redis_server(folder: Path, port: int) -> ChildSpec:
    """The Redis-protocol server. Raises `Unavailable` where none is installed."""
    folder.mkdir(parents=True, exist_ok=True)
    command = redis.server_command(redis.find_server(), folder, port)
    return ChildSpec("redis", _STORE, command, is_ready=lambda: redis.answers(f"redis://127.0.0.1:{port}/0"))


def migration(environment: Mapping[str, str]) -> ChildSpec:
    """The migrations, run to their end."""
    return ChildSpec(
        "migrate", "migrate", (_PYTHON, "-m", "loom.stack.migration"), environment, start_timeout_s=600
    )


def server(environment: Mapping[str, str], port: int) -> ChildSpec:
    """The HTTP server, which wakes the fleet after a write."""
    command = (_PYTHON, "-m", "loom.serve", "--host", "127.0.0.1", "--port", str(port))
    return ChildSpec(
        "server", _USER, command, environment, lambda: _answers(f"http://127.0.0.1:{port}/readyz")
    )


def worker(environment: Mapping[str, str], folder: Path, number: int) -> ChildSpec:
    """One Celery worker; pool and queues are the app's to say. Ready once it takes messages."""
    name = f"worker-{number}"
    ready = folder / f"{name}.ready"
    ready.unlink(missing_ok=True)
    return ChildSpec(
        name,
        _USER,
        (*_CELERY, "worker", "--hostname", f"{name}@%h", "--include", _ANNOUNCE),
        {**environment, READY_FILE: str(ready)},
        ready.exists,
        start_timeout_s=_FLEET_START_S,
        stop_timeout_s=_WORKER_STOP_S,
    )


def beat(environment: Mapping[str, str], folder: Path) -> ChildSpec:
    """Celery's scheduler. Ready once it has written its process id, which it does when its app is loaded."""
    pid_file = folder / "beat.pid"
    pid_file.unlink(missing_ok=True)
    command = (*_CELERY, "beat", "--pidfile", str(pid_file))
    return ChildSpec("beat", _USER, command, environment, pid_file.exists, start_timeout_s=_FLEET_START_S)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
