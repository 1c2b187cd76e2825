"""Sends wake-ups through Celery. This is the callable that `loom_core` is handed and knows nothing more of.

Celery is imported at the first wake-up, not with this module: a server whose rows all come with entities
never pays for it.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING

import redis
import structlog
from prometheus_client import Counter

from loom_core import tracing
from loom_core.coordination.connection import connect_redis
from loom_core.coordination.wakeups import CircuitBreaker, Wake, WakeMarks
from loom_core.settings import Settings

if TYPE_CHECKING:
    from celery import Celery

log = structlog.get_logger(__name__)

TIMEOUT_S = 0.08
"""For each of the two round trips of a wake-up: a write waits 0.2 s for Redis at most, once in a pause."""
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 15.0
LIFE_S = 120
"""A wake-up older than this is dropped unread: a beat has come since."""

SENT = Counter("loom_wakeups", "Wake-ups by worker and what became of them", ["worker", "outcome"])


def make_wake(settings: Settings) -> Wake:
    """A `wake(worker, shard)` for this process; make it after a fork or spawn.

    It never raises and never waits long for Redis. A lost wake-up is counted and logged at debug level; it
    costs a delay, since the next beat finds the row.
    """
    return _Sender(settings).wake


class _Sender:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._marks = WakeMarks(connect_redis(settings, TIMEOUT_S))
        self._breaker = CircuitBreaker(FIRST_PAUSE_S, LONGEST_PAUSE_S)
        self._making = threading.Lock()

    def wake(self, worker: str, shard: int) -> None:
        if not self._breaker.allows():
            self._lost(worker, "CircuitOpen")
            return
        marked = False
        try:
            marked = self._marks.set(worker, shard)
            if marked:
                self._send(worker, shard)
        except (
            Exception
        ) as error:  # kombu and redis raise classes of their own, and a write must not fail for any
            self._breaker.failed()
            self._lost(worker, type(error).__name__)
            if marked:
                self._unmark(worker, shard)
        else:
            self._breaker.succeeded()
            SENT.labels(worker, "sent" if marked else "coalesced").inc()

    def _send(self, worker: str, shard: int) -> None:
        self._app.send_task(
            f"workers.{worker}.sweep",
            kwargs={"shard": shard},
            expires=LIFE_S,
            retry=False,
            ignore_result=True,
            headers=dict(tracing.headers()),
        )

    @cached_property
    def _app(self) -> Celery:
        from workers.app import build_app

        with self._making:
            return build_app(self._settings, publish_timeout_s=TIMEOUT_S)

    def _unmark(self, worker: str, shard: int) -> None:
        """Lets the next write try again at once instead of when the mark has run out."""
        try:
            self._marks.clear(worker, shard)
        except redis.RedisError as error:
            log.debug("wake_mark_stays", worker=worker, error_class=type(error).__name__)

    def _lost(self, worker: str, reason: str) -> None:
        SENT.labels(worker, "lost").inc()
        log.debug("wake_up_lost", worker=worker, reason=reason)
