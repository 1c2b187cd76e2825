"""A new generation of `entity_degree`, counted from the frozen units: never adjusts, always replaces.

Order makes it exact beside writers: (1) the generation is opened, (2) the batches that are frozen by now are
listed, (3) exactly those are summed, (4) the pointer flips. A writer freezes its batch before it looks at the
pointer: either its batch is on the list, or it sees the opening and leaves the batch for the stragglers' round.
"""

from __future__ import annotations

from loom_core import clock
from loom_core.projection import degree
from loom_core.projection.receipts import write_receipts
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


def add_stragglers(store: Store, scope: Scope, older_than: int | None = None) -> int:
    """Adds batches that were frozen but never added: left aside during a recount, or their writer died.

    `older_than` (µs) leaves those alone whose writer may still be at it. Looks a day back: a row whose batch is
    older has no receipt either, so that `projection_retry` projects it again.
    """
    current, _ = degree.generation(store, scope)
    now = clock.now()
    lines = store.rows(
        sql("recount.stragglers"),
        org=scope.org,
        namespace=scope.namespace,
        generation=current,
        since=now - clock.DAY,
        until=now if older_than is None else older_than,
    )
    batches = degree.batches_of(store, scope, [line[0] for line in lines])
    for batch in batches:
        degree.add_again(store, scope, batch, current)
    write_receipts(store, scope, [(degree.batch_unit_id(b[0].batch_id), "degree", 0) for b in batches])
    return len(batches)


def _mark(store: Store, scope: Scope, number: int, state: str) -> None:
    store.insert(
        "degree_generations", GENERATION_COLUMNS, [[scope.org, scope.namespace, number, state, clock.now()]]
    )
