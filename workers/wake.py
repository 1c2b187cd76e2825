"""Sends wake-ups through Celery. This is the callable that `loom_core` is handed and knows nothing more of.

A thread of its own sends them, so that a write waits neither for Redis nor for the import of Celery, which the first
wake-up brings. What waits to be sent is bounded: one wake-up a worker and shard.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import redis
import structlog
from prometheus_client import Counter

from loom_core import tracing
from loom_core.coordination.connection import connect_redis
from loom_core.coordination.wakeups import Wake, WakeMarks
from loom_core.settings import Settings
from workers import registry

if TYPE_CHECKING:
    from celery import Celery

log = structlog.get_logger(__name__)

TIMEOUT_S = 2.0
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 15.0
"""Between two tries while Redis is away: the pause doubles up to this."""
EXIT_S = 1.0
"""How long an ending process waits for its wake-ups to be sent."""
LIFE_S = 600
"""A wake-up older than this is dropped unread: a beat has come since."""

SENT = Counter("loom_wakeups", "Wake-ups by worker and what became of them", ["worker", "outcome"])
"""Outcomes: sent; coalesced with one on its way; delayed, a try that failed; lost, at the process's end."""


def make_wake(settings: Settings) -> Wake:
    """A `wake(worker, shard)` for this process; make it after a fork or spawn.

    It never raises and never waits. A wake-up that cannot be sent is counted and logged at debug level, and sent
    once Redis is back; one that is lost costs a delay, since the next beat finds the row.
    """
    sender = Sender(settings)
    atexit.register(sender.close)
    return sender.wake


@dataclass(frozen=True, slots=True)
class _Message:
    """What is sent with a wake-up. `failed`: a try may have left a mark of a message that never went out."""

    headers: Mapping[str, str]
    failed: bool = False


class Sender:
    """The wake-ups that wait to be sent, and the thread that sends them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._marks = WakeMarks(connect_redis(settings, TIMEOUT_S))
        self._waiting: dict[tuple[str, int], _Message] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._sending = False

    def wake(self, worker: str, shard: int) -> None:
        """Has a wake-up sent soon; several that wait for the same worker and shard are one."""
        with self._changed:
            if (worker, shard) in self._waiting:
                SENT.labels(worker, "coalesced").inc()
                return
            self._waiting[worker, shard] = _Message(dict(tracing.headers()))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="loom-wake", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def close(self) -> None:
        """Waits a moment for what waits; what is left then is lost."""
        deadline = time.monotonic() + EXIT_S
        with self._changed:
            while (self._waiting or self._sending) and self._changed.wait(deadline - time.monotonic()):
                continue
            for worker, _ in self._waiting:
                SENT.labels(worker, "lost").inc()

    def _run(self) -> None:
        pause_s = 0.0
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                # Taken out before it is sent: a row that lands while it is sent may be too late for its tick.
                (worker, shard), message = next(iter(self._waiting.items()))
                del self._waiting[worker, shard]
                self._sending = True
            try:
                outcome = self._send(worker, shard, message)
                pause_s = 0.0
            except Exception as error:  # kombu and redis raise classes of their own, and the thread must live
                outcome = "delayed"
                pause_s = min(pause_s * 2 or FIRST_PAUSE_S, LONGEST_PAUSE_S)
                log.debug("wake_up_delayed", worker=worker, shard=shard, error_class=type(error).__name__)
            SENT.labels(worker, outcome).inc()
            with self._changed:
                if outcome == "delayed":
                    self._waiting.setdefault((worker, shard), replace(message, failed=True))
                self._sending = False
                self._changed.notify_all()
            time.sleep(pause_s)

    def _send(self, worker: str, shard: int, message: _Message) -> str:
        if not self._marks.set(worker, shard) and not message.failed:
            return "coalesced"
        try:
            self._app.send_task(
                f"workers.{worker}.sweep",
                kwargs={"shard": shard},
                expires=LIFE_S,
                priority=registry.worker(worker).priority,
                retry=False,
                ignore_result=True,
                headers=dict(message.headers),
            )
        except Exception:
            self._unmark(worker, shard)
            raise
        return "sent"

    @cached_property
    def _app(self) -> Celery:
        from workers.app import build_app

        return build_app(self._settings, publish_timeout_s=TIMEOUT_S)

    def _unmark(self, worker: str, shard: int) -> None:
        """Lets other processes send at once instead of when the mark has run out."""
        try:
            self._marks.clear(worker, shard)
        except redis.RedisError as error:
            log.debug("wake_mark_stays", worker=worker, error_class=type(error).__name__)
