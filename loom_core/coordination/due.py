"""Which namespaces have something due, read from small tables only: one row a namespace, one a failure.

These statements are the fleet's own and the only ones that span tenants; they return names, never data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from loom_core import clock
from loom_core.coordination.marks import lag
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope


def with_due_failures(store: Store, projections: Sequence[str]) -> set[Scope]:
    """Namespaces with an open failure of one of these projections whose next try is due."""
    lines = store.rows(sql("fleet.due_failures"), projections=list(projections), now=clock.now())
    return {Scope(org, namespace) for org, namespace, _ in lines}


def with_unfinished_erasures(store: Store, hard_limit_s: int) -> set[Scope]:
    """Namespaces with an erasure that died, or one that is to be swept because no tick can be that old."""
    settled = clock.now() - hard_limit_s * clock.SECOND
    lines = store.rows(sql("fleet.unfinished_erasures"), settled=settled)
    return {Scope(org, namespace) for org, namespace in lines}


USUAL_INSERT_S = 5
REST_S = 30


class Landed(NamedTuple):
    """When something last landed in a namespace, up to when all is known to be done, now; µs by the store's clock."""

    at: int
    mark: int
    now: int

    def rests(self, old_s: float = 0) -> bool:
        """Whether a search for what is `old_s` seconds old found nothing a moment ago, and another would not either.

        One that saw all that landed is made again after `REST_S`, for an INSERT that was under way for longer than
        usual; one that came before the last landing was old enough, after a quarter of that age.
        """
        searched = self.mark + lag(old_s)
        seen_all = self.at + (old_s + USUAL_INSERT_S) * clock.SECOND < searched
        return self.now < searched + (REST_S if seen_all else old_s / 4) * clock.SECOND


def with_landings_since_mark(store: Store, sources: Sequence[str], mark: str) -> dict[Scope, Landed]:
    """Namespaces where something of these sources landed after all that the mark knows to be done."""
    lines = store.rows(sql("fleet.landed_since_mark"), sources=list(sources), worker=mark)
    return {Scope(org, namespace): Landed(*instants) for org, namespace, *instants in lines}
