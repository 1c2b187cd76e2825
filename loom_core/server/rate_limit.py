"""Calls a minute and token: a token bucket each, in this process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from loom_core.errors import Limit

MAX_CALLERS = 10_000
"""Buckets kept; the one unused longest goes first. It would be full again by then, or nearly."""


class RateLimiter:
    """Lets `per_minute` calls through a caller, in bursts of as many; 0 lets everything through."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = float(per_minute)
        self._per_second = per_minute / 60
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, caller: str) -> None:
        """Count one call. Raises `Limit` (429) that says in how many seconds the next one passes."""
        if not self._capacity:
            return
        now = self._clock()
        with self._lock:
            left, since = self._buckets.pop(caller, (self._capacity, now))
            left = min(self._capacity, left + (now - since) * self._per_second)
            allowed = left >= 1
            self._buckets[caller] = (left - 1 if allowed else left, now)
            if len(self._buckets) > MAX_CALLERS:
                self._buckets.popitem(last=False)
        if not allowed:
            wait = (1 - left) / self._per_second
            raise Limit("rate_limited", "too many calls with this token", retry_after_s=round(wait, 3))
