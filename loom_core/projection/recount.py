"""A new generation of `entity_degree`, counted from the frozen units: never adjusts, always replaces.

Order makes it exact beside writers: (1) the generation is opened, (2) the batches that are frozen by now are
listed, (3) exactly those are summed, (4) the pointer flips. A writer freezes its batch before it looks at the
pointer: either its batch is on the list, or it sees the opening and leaves the batch for the stragglers' round.
"""

from __future__ import annotations

from loom_core import clock
from loom_core.projection import degree
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

GENERATION_COLUMNS = ("org", "namespace", "generation", "state", "at")


def recount(store: Store, scope: Scope) -> int:
    """Counts a new generation and makes readers use it; returns its number."""
    names = {"org": scope.org, "namespace": scope.namespace}
    current, opening = degree.generation(store, scope)
    number = max(current, opening) + 1
    _mark(store, scope, number, "opening")
    store.command(sql("recount.list_batches"), generation=number, **names)
    store.command(sql("recount.sum_batches"), generation=number, **names)
    _mark(store, scope, number, "current")
    add_stragglers(store, scope)
    return number


def add_stragglers(store: Store, scope: Scope) -> None:
    """Settles the batches that were frozen during a recount and left aside by their writers.

    Looks a day back: what is older has been found without a receipt since.
    """
    current, _ = degree.generation(store, scope)
    now = clock.now()
    lines = store.rows(
        sql("recount.stragglers"),
        org=scope.org,
        namespace=scope.namespace,
        generation=current,
        since=now - clock.DAY,
        until=now,
    )
    degree.settle(store, scope, [line[0] for line in lines])


def _mark(store: Store, scope: Scope, number: int, state: str) -> None:
    store.insert(
        "degree_generations", GENERATION_COLUMNS, [[scope.org, scope.namespace, number, state, clock.now()]]
    )
