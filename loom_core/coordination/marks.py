"""Up to when all that landed in a namespace is known to be done, so that a search need not begin at the beginning."""

from __future__ import annotations

from dataclasses import dataclass

from loom_core import clock
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

LATE_LANDING_S = 3600
"""How long an INSERT may be under way: a search looks this far behind what is known to be done."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A worker's mark in a namespace. µs by the store's clock, which is also the one that dates landings."""

    worker: str
    scope: Scope
    at: int
    now: int

    @property
    def since(self) -> int:
        """From when on a search looks at what landed."""
        return max(0, self.at - LATE_LANDING_S * clock.SECOND)


def read_mark(store: Store, scope: Scope, worker: str) -> Mark:
    """The mark, at 0 where none was set."""
    ((at, now),) = store.rows(sql("due.mark"), org=scope.org, namespace=scope.namespace, worker=worker)
    return Mark(worker, scope, at, now)


def move_mark(store: Store, mark: Mark, until: int) -> None:
    """Everything that landed before `until` (µs) is known to be done; a mark does not move back."""
    if until > mark.at:
        store.insert(
            "work_marks",
            ("org", "namespace", "worker", "mark", "ver"),
            [[mark.scope.org, mark.scope.namespace, mark.worker, until, until]],
        )
