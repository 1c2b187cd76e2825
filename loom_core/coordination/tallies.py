"""What ticks did, summed up in Redis for `/metrics`: counters may start again at zero, so a loss is fine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import redis

KEY = "loom:tallies"


@dataclass(frozen=True, slots=True)
class Tally:
    """A sum over ticks: of `name` (ticks, seconds, handled or failed), for one worker and outcome."""

    worker: str
    outcome: str
    name: str
    value: float


class Tallies:
    """The fleet's counters. Methods raise `redis.RedisError` while Redis is away."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def add(self, worker: str, outcome: str, seconds: float, handled: int = 0, failed: int = 0) -> None:
        """Adds one tick."""
        pipeline = self._client.pipeline(transaction=False)
        sums = {"ticks": 1.0, "seconds": seconds, "handled": float(handled), "failed": float(failed)}
        for name, value in sums.items():
            if value:
                pipeline.hincrbyfloat(KEY, json.dumps([worker, outcome, name]), value)
        pipeline.execute()

    def read(self) -> Iterator[Tally]:
        """Every sum."""
        for field, value in self._client.hgetall(KEY).items():
            worker, outcome, name = json.loads(field)
            yield Tally(worker, outcome, name, float(value))
