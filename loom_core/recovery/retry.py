"""The work of `projection_retry`: units that failed to project, and units that nobody saw fail (D34)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import structlog

from loom_core import faults
from loom_core.coordination.due import (
    with_due_failures,
    with_landings_since_mark,
    with_unfinished_erasures,
)
from loom_core.coordination.work import Handled
from loom_core.errors import Unavailable
from loom_core.memory.erase import Forget, forgets_nothing, resume
from loom_core.projection import degree
from loom_core.projection.due import MARK, DueUnit, due_failures, orphans
from loom_core.projection.failures import DEAD, OPEN, RESOLVED, STALE, of_units, settle
from loom_core.projection.inputs import KeyInputs, read_keys
from loom_core.projection.plan import current_id
from loom_core.projection.project import project, project_keys
from loom_core.projection.receipts import ALL, write_receipts
from loom_core.projection.recount import recount
from loom_core.projection.units import PROJECTIONS, Unit
from loom_core.recovery.lost import count_lost, next_try
from loom_core.recovery.trying import Failed, attempt, log_tries, try_each
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

log = structlog.get_logger(__name__)

RETRIED = (*(name for name in PROJECTIONS if name != "closes"), "receipts", ALL)
"""`closes` has a worker of its own."""
SOURCES = ("row", "untagged", "event", "extraction", "degree")
"""What lands and is to be projected, as `namespace_activity` names it."""
BATCH = 64


def due_scopes(store: Store, settings: Settings) -> set[Scope]:
    """Namespaces with failures due, with landings not known to be projected, with erasures to go on with."""
    old_s = settings.projection_retry_orphan_after_s
    landed = with_landings_since_mark(store, SOURCES, MARK).items()
    erasing = with_unfinished_erasures(store, settings.tick_hard_limit_s)
    orphaned = {scope for scope, each in landed if not each.rests(old_s)}
    return with_due_failures(store, RETRIED) | orphaned | erasing


def retry_batch(store: Store, scope: Scope, settings: Settings, forget: Forget = forgets_nothing) -> Handled:
    """One batch of a namespace: erasures, then due failures, then orphans. `forget`: as an erasure takes it."""
    done = resume(store, scope, settings, forget)
    due = due_failures(store, scope, RETRIED, BATCH)
    full = len(due) >= BATCH
    if not full:
        found = orphans(store, scope, settings, BATCH - len(due))
        full = len(due) + len(found) >= BATCH
        due += [each for each in found if each.unit.kind != "degree"]
        done += _settle(store, scope, [each.unit.unit_id for each in found if each.unit.kind == "degree"])
    units, left = _to_try(store, scope, due, settings)
    if not units:
        return Handled(done=done, more=full and done > 0)
    inputs = read_keys(store, scope, sorted({unit.memory_key for unit in units}))
    stale = [unit for unit in units if _is_stale(unit, inputs[unit.memory_key])]
    current = [unit for unit in units if unit not in stale]

    def work() -> dict[str, Failed]:
        failed = try_each(current, lambda some: _project(store, scope, some)) if current else {}
        return failed | (try_each(stale, lambda some: _project_whole(store, scope, some)) if stale else {})

    failed = attempt(store, scope, units, ALL, work)
    values = {row.memory_id: row.content_sha256 for each in inputs.values() for row in each.rows}
    count = log_tries(store, scope, current, failed, settings, values=values, overcome=RESOLVED)
    count += log_tries(store, scope, stale, failed, settings, values=values, overcome=STALE)
    return Handled(done + len(units) - count, count, more=left or full)


def _settle(store: Store, scope: Scope, batch_units: Sequence[str]) -> int:
    """Settles batches of degrees that nobody reported; returns how many. One that fails holds up no row.

    It keeps no failure row: without its receipt it is found again by the next sweep, and waits until then.
    """
    try:
        degree.settle(store, scope, [unit_id.removeprefix(degree.BATCH_UNIT) for unit_id in batch_units])
    except degree.RecountNeeded:
        recount(store, scope)
    except Unavailable:
        raise
    except Exception as error:
        log.warning("degrees_not_settled", batches=len(batch_units), error_class=type(error).__name__)
        return 0
    return len(batch_units)


def _to_try(
    store: Store, scope: Scope, due: Sequence[DueUnit], settings: Settings
) -> tuple[list[Unit], bool]:
    """The units of one try, and whether others are left: those never lost together, else a lost one alone."""
    units = [each.unit for each in due]
    if not units:
        return [], False
    limit = settings.projection_retry_max_attempts
    lost = count_lost(store, scope, units, ALL, settings, limit)
    dead = [id_ for id_, failure in lost.items() if failure.state == DEAD]
    if dead:
        # Every other failure of such a unit is of the same row: its try would kill the next process.
        settle(store, scope, [f for f in of_units(store, scope, dead) if f.state == OPEN], DEAD)
    return next_try(units, lost)


def _is_stale(unit: Unit, inputs: KeyInputs) -> bool:
    """Whether the key has another value: one is retried "only while the row still has the value"."""
    now = current_id(inputs)
    return unit.kind != "event" and now is not None and now != unit.memory_id


def _project(store: Store, scope: Scope, units: Sequence[Unit]) -> Failed:
    faults.reach("projection_retry", "attempt")
    failed = project(store, scope, units).failed
    faults.reach("projection_retry", "projected")
    return failed


def _project_whole(store: Store, scope: Scope, units: Sequence[Unit]) -> Failed:
    """Projects stale units' keys as they are now, so that the outcome is a function of the inputs (D13)."""
    failed: Mapping[str, Exception] = project_keys(store, scope, sorted({u.memory_key for u in units})).failed
    if not failed:
        write_receipts(store, scope, [(unit.unit_id, ALL, 0) for unit in units])
    return failed
