"""Up to when all that landed in a namespace is known to be done, so that a search need not begin at the beginning."""

from __future__ import annotations

from dataclasses import dataclass

from loom_core import clock
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

LATE_LANDING_S = 3600
"""How long an INSERT may be under way: a search looks this far behind what is known to be done."""

UNSETTLED_S = 120
"""A mark stays this far behind a search: an INSERT under way lands with an earlier instant than it is seen at."""


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


def lag(old_s: float = 0) -> int:
    """How far behind a search the mark stays that it leaves, in µs."""
    return int(max(old_s, UNSETTLED_S) * clock.SECOND)


def read_mark(store: Store, scope: Scope, worker: str) -> Mark:
    """The mark, at 0 where none was set."""
    ((at, now),) = store.rows(sql("due.mark"), org=scope.org, namespace=scope.namespace, worker=worker)
    return Mark(worker, scope, at, now)


def searched_in_vain(store: Store, mark: Mark, old_s: float = 0) -> None:
    """Moves the mark after a search, begun when it was read, that found nothing `old_s` seconds old to do."""
    until = mark.now - lag(old_s)
    if until > mark.at:
        store.insert(
            "work_marks",
            ("org", "namespace", "worker", "mark", "ver"),
            [[mark.scope.org, mark.scope.namespace, mark.worker, until, until]],
        )
