"""Wake-ups: "worker X, look at shard S". A lost one costs a delay, so none may cost a write anything."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import redis

Wake = Callable[[str, int], None]
"""`wake(worker, shard)`: never raises and never waits long. `loom_core` is handed one; it knows no queue."""

MARK_MS = 5_000
"""How long one message stands for all that follow it, unless its tick begins before."""


def no_wake(worker: str, shard: int) -> None:
    """For a process without a fleet: the next beat finds the row."""


class WakeMarks:
    """Makes a burst of writes send one message: a mark per worker and shard, set by the first to come.

    A tick takes the mark away before it looks for rows. So a write that finds the mark is seen by the tick to
    come, and one that lands after that tick began finds none and sends anew.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def set(self, worker: str, shard: int) -> bool:
        """Whether the caller is the first since the last tick began, and so has to send."""
        return bool(self._client.set(_mark(worker, shard), "1", nx=True, px=MARK_MS))

    def clear(self, worker: str, shard: int) -> None:
        """Takes the mark away: the tick begins, or the message could not be sent."""
        self._client.delete(_mark(worker, shard))


class CircuitBreaker:
    """Keeps callers from a service that just failed: open after a failure, for longer after each more.

    While it is open one caller in each pause gets through to try; a success closes it. Thread-safe.
    """

    def __init__(
        self, first_pause_s: float, longest_pause_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._first_pause_s = first_pause_s
        self._longest_pause_s = longest_pause_s
        self._clock = clock
        self._lock = threading.Lock()
        self._pause_s = 0.0
        self._open_until = 0.0

    def allows(self) -> bool:
        """Whether to try now. A yes while failing is given once a pause."""
        with self._lock:
            if self._pause_s and self._clock() < self._open_until:
                return False
            self._open_until = self._clock() + self._pause_s
            return True

    def succeeded(self) -> None:
        """The try went well."""
        with self._lock:
            self._pause_s = 0.0

    def failed(self) -> None:
        """The try failed: the pause begins, twice as long as the last."""
        with self._lock:
            self._pause_s = min(self._pause_s * 2 or self._first_pause_s, self._longest_pause_s)
            self._open_until = self._clock() + self._pause_s


def _mark(worker: str, shard: int) -> str:
    return f"loom:wake:{{{worker}:{shard}}}"
