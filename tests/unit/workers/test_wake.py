from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from loom_core.coordination.wakeups import Wake
from loom_core.settings import Settings
from workers import wake


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A listener that accepts and never answers, as a Redis that hangs."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield listener.getsockname()[1]


def slowest(send: Wake, calls: int) -> float:
    took = []
    for number in range(calls):
        began = time.monotonic()
        send("entity_extractor", number % 16)
        took.append(time.monotonic() - began)
    return max(took)


@pytest.mark.parametrize("away", ["refuses", "hangs"])
def test_a_redis_that_is_away_costs_a_write_nothing(silent_port: int, away: str) -> None:
    send = wake.make_wake(Settings(redis_url=f"redis://127.0.0.1:{silent_port if away == 'hangs' else 1}/0"))
    assert slowest(send, calls=1000) < 0.2


def test_what_waits_to_be_sent_is_bounded_by_workers_and_shards(silent_port: int) -> None:
    sender = wake.Sender(Settings(redis_url=f"redis://127.0.0.1:{silent_port}/0"))
    assert slowest(sender.wake, calls=1000) < 0.2
    assert len(sender._waiting) <= 16


def test_what_could_not_be_sent_till_the_end_is_counted_as_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wake, "EXIT_S", 0.2)
    counter = wake.SENT.labels("projection_retry", "lost")
    before = counter._value.get()
    sender = wake.Sender(Settings(redis_url="redis://127.0.0.1:1/0"))
    sender.wake("projection_retry", 1)
    sender.close()
    assert counter._value.get() == before + 1


def test_making_one_imports_no_celery() -> None:
    code = (
        "import sys; from loom_core.settings import Settings; from workers.wake import make_wake; "
        "make_wake(Settings(redis_url='redis://127.0.0.1:1/0')); print('celery' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
