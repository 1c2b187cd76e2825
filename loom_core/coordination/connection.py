"""The Redis client of a process. Make it after a fork or spawn, never before."""

from __future__ import annotations

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from loom_core.settings import Settings

TIMEOUT_S = 5.0


def connect_redis(settings: Settings, timeout_s: float = TIMEOUT_S, *, text: bool = True) -> redis.Redis:
    """A client whose commands end within `timeout_s` seconds each, and which never sends one twice.

    Connects at first use. It returns strings, or bytes where `text` is False. Raises `Invalid` where no
    address is set.
    """
    return redis.Redis.from_url(
        settings.require_redis_url(),
        socket_timeout=timeout_s,
        socket_connect_timeout=timeout_s,
        retry=Retry(NoBackoff(), 0),
        decode_responses=text,
    )
