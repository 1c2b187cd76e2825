from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from loom_core.settings import Settings
from workers import wake


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A listener that accepts and never answers, as a Redis that hangs."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield listener.getsockname()[1]


def lost() -> float:
    return wake.SENT.labels("entity_extractor", "lost")._value.get()


def slowest(port: int, calls: int) -> float:
    send = wake.make_wake(Settings(redis_url=f"redis://127.0.0.1:{port}/0"))
    took = []
    for _ in range(calls):
        began = time.monotonic()
        send("entity_extractor", 0)
        took.append(time.monotonic() - began)
    return max(took)


@pytest.mark.parametrize("away", ["refuses", "hangs"])
def test_a_redis_that_is_away_costs_a_write_at_most_a_fifth_of_a_second(silent_port: int, away: str) -> None:
    before = lost()
    assert slowest(silent_port if away == "hangs" else 1, calls=50) < 0.2
    assert lost() == before + 50, "each lost wake-up is counted"


def test_while_the_circuit_is_open_nothing_is_asked(silent_port: int) -> None:
    send = wake.make_wake(Settings(redis_url=f"redis://127.0.0.1:{silent_port}/0"))
    send("entity_extractor", 0)
    began = time.monotonic()
    for _ in range(1000):
        send("entity_extractor", 0)
    assert time.monotonic() - began < 0.5
