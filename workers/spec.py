"""What the fleet knows of one worker. Everything else about it is derived from this."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loom_core.coordination.work import Work
from loom_core.settings import Settings
from workers.parts import Parts

SOON, LATER = 3, 6
"""Priorities on Redis, 0 the first. A beat's sweep has 0: it takes milliseconds, and behind ticks of 45 seconds it
would expire each time. What mends goes before what reads texts or clusters, which can fill every process for hours.
"""


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """One worker. `gate` and `interval` name fields of `Settings`; `make` builds its work, once a process.

    `priority` is that of its shards' wake-ups: `SOON` or `LATER`.
    """

    name: str
    summary: str
    gate: str
    interval: str
    priority: int
    make: Callable[[Parts], Work]

    @property
    def task(self) -> str:
        """The Celery task's name: part of the wire format, so moving code must not change it."""
        return f"workers.{self.name}.sweep"

    @property
    def queue(self) -> str:
        """The queue its messages go through: one a worker, so that machines can be given to one of them."""
        return self.name

    @property
    def gate_variable(self) -> str:
        """The environment variable of its gate."""
        return f"LOOM_{self.gate.upper()}"

    def enabled(self, settings: Settings) -> bool:
        """Whether its gate is on."""
        return bool(getattr(settings, self.gate))

    def interval_s(self, settings: Settings) -> int:
        """Seconds between its beats."""
        return int(getattr(settings, self.interval))
