"""What awaits projection: failures whose time has come, and units that landed but have no receipt (D34)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loom_core import clock
from loom_core.projection.failures import COLUMNS, Failure
from loom_core.projection.units import Unit
from loom_core.settings import Settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

LATE_LANDING_S = 3600
"""How long an INSERT may be under way: a search for orphans looks this far behind what is known to be done."""
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
    now = clock.now()
    until = now - int(settings.projection_retry_orphan_after_s * clock.SECOND)
    names = {"org": scope.org, "namespace": scope.namespace}
    mark = store.rows(sql("due.mark"), worker=MARK, **names)[0][0]
    lines = store.rows(
        sql("due.orphans"),
        since=max(0, mark - LATE_LANDING_S * clock.SECOND),
        until=until,
        limit=limit,
        **names,
    )
    if not lines and until > mark:
        store.insert(
            "work_marks",
            ("org", "namespace", "worker", "mark", "ver"),
            [[scope.org, scope.namespace, MARK, until, until]],
        )
    return [DueUnit(Unit(*line)) for line in lines]


def waiting(store: Store, scope: Scope) -> int:
    """How many units lack a receipt now, however young: what `loom drain` waits for."""
    mark = store.rows(sql("due.mark"), worker=MARK, org=scope.org, namespace=scope.namespace)[0][0]
    lines = store.rows(
        sql("due.orphans"),
        org=scope.org,
        namespace=scope.namespace,
        since=max(0, mark - LATE_LANDING_S * clock.SECOND),
        until=clock.now() + clock.DAY,
        limit=1_000_000,
    )
    return len(lines)


def unit_of(failure: Failure) -> Unit:
    """The unit that a failure is of."""
    if failure.unit_id.startswith("x:"):
        kind = "extraction"
    else:
        kind = "row" if failure.unit_id == failure.memory_id else "event"
    return Unit(failure.unit_id, kind, failure.memory_key, failure.memory_id, failure.as_of)  # type: ignore[arg-type]
