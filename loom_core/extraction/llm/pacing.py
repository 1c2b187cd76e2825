"""Keeps a process under a provider's requests and tokens a minute, and quiet while it was told to wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pacer:
    """A token bucket for requests and one for tokens, shared by the calls in flight. 0 means no limit."""

    def __init__(
        self,
        requests_per_minute: int = 0,
        tokens_per_minute: int = 0,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._buckets = [
            _Bucket(per_minute / 60, clock()) for per_minute in (requests_per_minute, tokens_per_minute)
        ]
        self._quiet_until = clock()

    def wait(self, tokens: int, at_most_s: float) -> float:
        """Sleep until a call of `tokens` may start. Returns 0, or the seconds still to wait when those are
        more than `at_most_s`: then nothing was taken and the call must not be made."""
        with self._lock:
            now = self._clock()
            delay = max(
                self._quiet_until - now,
                *(b.delay(n, now) for b, n in zip(self._buckets, (1, tokens), strict=True)),
            )
            if delay > at_most_s:
                return delay
            for bucket, amount in zip(self._buckets, (1, tokens), strict=True):
                bucket.take(amount, now)
        if delay > 0:
            self._sleep(delay)
        return 0.0

    def correct(self, tokens: int) -> None:
        """Charge tokens a call used beyond its estimate (negative: give back)."""
        with self._lock:
            self._buckets[1].take(tokens, self._clock())

    def quiet(self, seconds: float) -> None:
        """No call starts for this long: a provider said `Retry-After`."""
        with self._lock:
            self._quiet_until = max(self._quiet_until, self._clock() + seconds)


class _Bucket:
    """Fills at `rate` a second up to one second's worth (at least one), may go into debt."""

    def __init__(self, rate: float, now: float) -> None:
        self._rate, self._level, self._at = rate, max(rate, 1.0), now

    def delay(self, amount: float, now: float) -> float:
        if not self._rate:
            return 0.0
        self._fill(now)
        # A call larger than the bucket starts from a full one and leaves a debt.
        wanted = min(amount, max(self._rate, 1.0))
        return max(0.0, (wanted - self._level) / self._rate)

    def take(self, amount: float, now: float) -> None:
        if self._rate:
            self._fill(now)
            self._level = min(self._level - amount, max(self._rate, 1.0))

    def _fill(self, now: float) -> None:
        self._level = min(max(self._rate, 1.0), self._level + (now - self._at) * self._rate)
        self._at = now
