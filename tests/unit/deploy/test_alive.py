"""A probe tells a stuck process from one that waits for Redis."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loom_core.settings import Settings
from workers import alive

NOW = 1_000_000.0


class Answering:
    def ping(self) -> bool:
        return True


@pytest.fixture
def redis_that_is_away() -> Settings:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    return Settings(redis_url=f"redis://127.0.0.1:{port}/0")


@pytest.mark.parametrize(
    ("age_s", "redis_answers", "expected"),
    [
        (1, True, True),
        (alive.STALE_S - 1, True, True),
        (alive.STALE_S + 1, True, False),
        (alive.STALE_S + 1, False, True),
        (None, True, False),
        (None, False, False),
    ],
)
def test_only_an_old_file_beside_a_redis_that_answers_means_stuck(
    tmp_path: Path,
    monkeypatch: Any,
    redis_that_is_away: Settings,
    age_s: float | None,
    redis_answers: bool,
    expected: bool,
) -> None:
    import os

    if redis_answers:
        monkeypatch.setattr(alive, "connect_redis", lambda _: Answering())
    file = tmp_path / "alive"
    if age_s is not None:
        file.touch()
        os.utime(file, (NOW - age_s, NOW - age_s))
    assert alive.is_alive(file, redis_that_is_away, NOW) is expected


def test_a_worker_that_connects_anew_keeps_one_timer(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(alive, "FILE", tmp_path / "alive")
    entries: list[Any] = []

    class Timer:
        def call_repeatedly(self, _: float, __: Any) -> Any:
            entry = SimpleNamespace(cancelled=False)
            entry.cancel = lambda: setattr(entry, "cancelled", True)
            entries.append(entry)
            return entry

    for _ in range(3):
        alive.watch(SimpleNamespace(timer=Timer()))
    assert [entry.cancelled for entry in entries] == [True, True, False]
    assert time.time() - alive.FILE.stat().st_mtime < 60
    alive.watch(SimpleNamespace(timer=Timer()))


def test_a_beat_leaves_a_trace_at_every_look(tmp_path: Path, monkeypatch: Any) -> None:
    from celery import Celery

    monkeypatch.setattr(alive, "FILE", tmp_path / "alive")
    scheduler = alive.Scheduler(Celery("t", set_as_current=False))
    scheduler.tick()
    assert alive.FILE.exists()


def test_the_file_is_old_only_after_the_longest_pause_of_a_beat() -> None:
    assert alive.STALE_S > 300 > alive.PERIOD_S
