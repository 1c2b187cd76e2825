"""What awaits projection: failures whose time has come, and units that landed but have no receipt (D34)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from loom_core import clock
from loom_core.coordination.marks import Mark, read_mark, searched_in_vain
from loom_core.projection.failures import COLUMNS, Failure
from loom_core.projection.units import Unit
from loom_core.settings import Settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

MARK = "projection"


@dataclass(frozen=True, slots=True)
class DueUnit:
    """A unit to project, with the failures that made it due; none for an orphan."""

    unit: Unit
    failures: tuple[Failure, ...] = ()


def due_failures(
    store: Store, scope: Scope, projections: Sequence[str], limit: int, now: int | None = None
) -> list[DueUnit]:
    """Open failures of these projections whose next try is due, grouped by unit, the longest overdue first."""
    columns = ", ".join(f"`{name}`" for name in COLUMNS[2:])
    lines = store.rows(
        sql("failures.due").format(columns=columns),
        org=scope.org,
        namespace=scope.namespace,
        projections=list(projections),
        now=clock.now() if now is None else now,
        limit=limit,
    )
    grouped: dict[str, list[Failure]] = {}
    for line in lines:
        failure = Failure(*line)
        grouped.setdefault(failure.unit_id, []).append(failure)
    return [DueUnit(unit_of(group[0]), tuple(group)) for group in grouped.values()]


def orphans(store: Store, scope: Scope, settings: Settings, limit: int) -> list[DueUnit]:
    """Units landed longer ago than `projection_retry_orphan_after_s` that lack a receipt and have no failure row.

    Where there are none, moves the mark up to which everything is known to be done.
    """
    mark = read_mark(store, scope, MARK)
    old_s = settings.projection_retry_orphan_after_s
    lines = _landed(store, mark, mark.now - int(old_s * clock.SECOND), limit)
    if not lines:
        searched_in_vain(store, mark, old_s)
    return [DueUnit(Unit(*line)) for line in lines]


def waiting(store: Store, scope: Scope) -> int:
    """How many units lack a receipt now, however young: what `loom drain` waits for."""
    mark = read_mark(store, scope, MARK)
    return len(_landed(store, mark, mark.now + clock.DAY, 1_000_000))


def _landed(store: Store, mark: Mark, until: int, limit: int) -> Sequence[Sequence[Any]]:
    """The units without a receipt that landed between the mark and `until`."""
    names = {"org": mark.scope.org, "namespace": mark.scope.namespace}
    return store.rows(sql("due.orphans"), since=mark.since, until=until, limit=limit, **names)


def unit_of(failure: Failure) -> Unit:
    """The unit that a failure is of."""
    if failure.unit_id.startswith("x:"):
        kind = "extraction"
    else:
        kind = "row" if failure.unit_id == failure.memory_id else "event"
    return Unit(failure.unit_id, kind, failure.memory_key, failure.memory_id, failure.as_of)  # type: ignore[arg-type]
