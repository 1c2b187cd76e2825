"""Cached answers of models in Redis, as far as an erasure is concerned."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import redis

from loom_core.errors import Unavailable


def forget_answers(client: redis.Redis) -> Callable[[Sequence[str]], None]:
    """A function that deletes answers by their keys. It raises `Unavailable` while Redis is away."""

    def forget(keys: Sequence[str]) -> None:
        try:
            if keys:
                client.delete(*keys)
        except redis.RedisError as error:
            raise Unavailable("redis_away", "Redis does not answer: the erasure goes on by itself") from error

    return forget
