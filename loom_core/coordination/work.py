"""What a worker is to its tick: which namespaces have something due, and how one batch is done."""

from __future__ import annotations

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


class Work(Protocol):
    """One worker's work. Batches are bounded, so that a tick can go round its namespaces fairly."""

    def due(self) -> Collection[Scope]:
        """The namespaces in which something may be due now. Raises `Unavailable` if the store is away."""
        ...

    def handle(self, scope: Scope, deadline: float) -> Handled:
        """One batch of a namespace; nothing new is begun after `deadline` (`time.monotonic()` seconds).

        What a row raises is that row's failure and is logged as such. Raises `Unavailable` if a store is
        away.
        """
        ...
