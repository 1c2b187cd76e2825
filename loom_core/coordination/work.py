"""What a worker is to its tick: which namespaces have something due, and how one batch is done."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from loom_core.tenancy import Scope


@dataclass(frozen=True, slots=True)
class Handled:
    """What became of one batch of a namespace.

    `more`: rows were left that are due now, or in `wait_s` seconds where a provider said when to come back.
    """

    done: int = 0
    failed: int = 0
    more: bool = False
    wait_s: float = 0.0


class Deadline:
    """Until when a tick may begin something new: its budget, or the moment its process is asked to stop."""

    def __init__(self, seconds: float, stopping: threading.Event | None = None) -> None:
        self._ends = time.monotonic() + seconds
        self._stopping = stopping or threading.Event()

    def passed(self) -> bool:
        """Whether nothing new may be begun."""
        return self._stopping.is_set() or time.monotonic() >= self._ends

    def sleep(self, seconds: float) -> bool:
        """Sleeps so long if the time suffices; whether it did."""
        return time.monotonic() + seconds < self._ends and not self._stopping.wait(max(0.0, seconds))


class Work(Protocol):
    """One worker's work. Batches are bounded, so that a tick can go round its namespaces fairly."""

    def due(self) -> Collection[Scope]:
        """The namespaces in which something may be due now. Raises `Unavailable` if the store is away."""
        ...

    def handle(self, scope: Scope, deadline: Deadline) -> Handled:
        """One batch of a namespace; nothing new is begun once `deadline` has passed.

        What a row raises is that row's failure and is logged as such. Raises `Unavailable` if a store is
        away.
        """
        ...
