"""Requests and tokens a minute, against a clock the test turns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_core.extraction.llm.pacing import Pacer


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def paced(rpm: int = 0, tpm: int = 0) -> tuple[Pacer, Clock]:
    clock = Clock()
    return Pacer(rpm, tpm, clock=clock, sleep=clock.sleep), clock


def test_without_limits_nothing_waits():
    pacer, clock = paced()
    assert [pacer.wait(10_000, 0.0) for _ in range(1000)] == [0.0] * 1000
    assert clock.now == 100.0


@given(st.integers(1, 600), st.integers(2, 200))
def test_no_more_requests_a_minute_than_allowed(rpm, calls):
    pacer, clock = paced(rpm=rpm)
    starts = []
    for _ in range(calls):
        assert pacer.wait(1, 1e9) == 0.0
        starts.append(clock.now)
    burst = max(1, rpm // 60) + 1
    for i, start in enumerate(starts):
        within = sum(start <= later < start + 60 for later in starts[i:])
        assert within <= rpm + burst


def test_tokens_are_paced_by_their_estimate_and_corrected_by_their_count():
    pacer, clock = paced(tpm=6000)
    pacer.wait(6000, 1e9)
    pacer.correct(-6000)
    before = clock.now
    pacer.wait(100, 1e9)
    assert clock.now == before
    pacer.correct(5900)
    pacer.wait(100, 1e9)
    assert clock.now - before == pytest.approx(60, abs=2)


def test_a_call_larger_than_the_bucket_is_let_through_once():
    pacer, _ = paced(tpm=60)
    assert pacer.wait(1_000_000, 10.0) == 0.0
    assert pacer.wait(1, 10.0) > 10.0


def test_a_wait_longer_than_allowed_takes_nothing_and_says_how_long():
    pacer, clock = paced(rpm=1)
    assert pacer.wait(1, 0.0) == 0.0
    assert pacer.wait(1, 5.0) == pytest.approx(60)
    clock.now += 60
    assert pacer.wait(1, 0.0) == 0.0


def test_nothing_starts_while_a_provider_said_to_wait():
    pacer, clock = paced()
    pacer.quiet(2.0)
    pacer.quiet(1.0)
    assert pacer.wait(1, 10.0) == 0.0
    assert clock.now == 102.0
