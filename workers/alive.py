"""Liveness for whoever restarts processes: progress, not a ping.

A worker's event loop (`celery worker --include workers.alive`) and a beat's (`--scheduler workers.alive:Scheduler`)
touch a file as they go round. `python -m workers.alive` ends with 1 once the file is old although Redis answers: the
process is stuck. While Redis is away a worker waits for it and goes round no loop: it is alive, and a restart would
not help.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import redis
from celery import beat, signals

from loom_core.coordination.connection import connect_redis
from loom_core.settings import Settings, load_settings

FILE = Path(tempfile.gettempdir()) / "loom-alive"
"""One process a container or unit: it has a /tmp of its own."""
PERIOD_S = 10.0
STALE_S = 400.0
"""Longer than the pause of a beat that has nothing to schedule, which is 300 s."""


class Scheduler(beat.Scheduler):  # type: ignore[misc]
    """The beat's scheduler in memory, which leaves a trace each time it looks for what is due."""

    def tick(self, *arguments: Any, **options: Any) -> Any:
        """Called by beat in its loop."""
        FILE.touch()
        return super().tick(*arguments, **options)


_touching: list[Any] = []


def watch(sender: Any, **_: Any) -> None:
    """Called when a worker takes messages, again after each lost connection, which may have emptied its timer."""
    while _touching:
        _touching.pop().cancel()
    FILE.touch()
    _touching.append(sender.timer.call_repeatedly(PERIOD_S, FILE.touch))


signals.worker_ready.connect(watch)


def is_alive(file: Path, settings: Settings, now: float) -> bool:
    """Whether the process that touches `file` makes progress, or has a reason not to."""
    try:
        if now - file.stat().st_mtime < STALE_S:
            return True
    except FileNotFoundError:
        return False
    try:
        connect_redis(settings).ping()
    except redis.RedisError:
        return True
    return False


if __name__ == "__main__":
    sys.exit(0 if is_alive(FILE, load_settings(), time.time()) else 1)
