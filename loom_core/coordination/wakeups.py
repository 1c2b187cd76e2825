"""Wake-ups: "worker X, look at shard S". A lost one costs a delay, so none may cost a write anything."""

from __future__ import annotations

from collections.abc import Callable

import redis

Wake = Callable[[str, int], None]
"""`wake(worker, shard)`: never raises and never waits long. `loom_core` is handed one; it knows no queue."""

MARK_MS = 30_000
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


def _mark(worker: str, shard: int) -> str:
    return f"loom:wake:{{{worker}:{shard}}}"
