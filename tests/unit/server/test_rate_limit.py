"""A bucket per caller: bursts up to the limit, then the limit's pace."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_core.errors import Limit
from loom_core.server import rate_limit
from loom_core.server.rate_limit import RateLimiter


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def passes(limiter: RateLimiter, caller: str = "a") -> bool:
    try:
        limiter.take(caller)
    except Limit:
        return False
    return True


@given(per_minute=st.integers(1, 50), gaps=st.lists(st.floats(0, 30), max_size=200))
def test_no_minute_sees_more_than_a_burst_and_a_refill(per_minute: int, gaps: list[float]) -> None:
    clock = Clock()
    limiter = RateLimiter(per_minute, clock)
    passed: list[float] = []
    for gap in gaps:
        clock.now += gap
        if passes(limiter):
            passed.append(clock.now)
    for start in passed:
        assert len([at for at in passed if start <= at < start + 60]) <= 2 * per_minute


def test_who_waits_as_long_as_told_gets_through() -> None:
    clock = Clock()
    limiter = RateLimiter(30, clock)
    assert all(passes(limiter) for _ in range(30))
    with pytest.raises(Limit) as caught:
        limiter.take("a")
    assert caught.value.retry_after_s is not None
    clock.now += caught.value.retry_after_s - 0.1
    assert not passes(limiter)
    clock.now += 0.11
    assert passes(limiter)


def test_one_callers_haste_is_not_anothers_wait() -> None:
    limiter = RateLimiter(1, Clock())
    assert passes(limiter, "a") and not passes(limiter, "a")
    assert passes(limiter, "b")


def test_zero_lets_everything_through() -> None:
    limiter = RateLimiter(0, Clock())
    assert all(passes(limiter) for _ in range(1000))


def test_callers_are_forgotten_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "MAX_CALLERS", 2)
    limiter = RateLimiter(1, Clock())
    for caller in ("a", "b", "c"):
        limiter.take(caller)
    assert not passes(limiter, "c")
    assert passes(limiter, "a"), "its bucket went first, so it starts afresh"
