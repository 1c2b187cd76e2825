"""The work of `supersession_replay`: closes that failed, derived again.

What a slot holds is a function of all its statements, each with its own arrival (invariant 4). So a replay
needs no clock of its own: whenever it runs, it closes as of the write or Undo that failed to, and a value
stated since stays current.
"""

from __future__ import annotations

from collections.abc import Sequence

from loom_core import faults
from loom_core.coordination.due import with_due_failures
from loom_core.coordination.work import Handled
from loom_core.projection.due import due_failures
from loom_core.projection.failures import DEAD, OPEN, of_units
from loom_core.projection.inputs import CHUNK, read_keys
from loom_core.projection.receipts import ALL, write_receipts
from loom_core.projection.slots import derive_slots
from loom_core.projection.units import Unit
from loom_core.recovery.lost import count_lost, next_try
from loom_core.recovery.trying import Failed, attempt, log_tries, try_each
from loom_core.settings import Settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store, in_chunks
from loom_core.tenancy import Scope

CLOSES = "closes"


def due_scopes(store: Store) -> set[Scope]:
    """Namespaces with a failed close whose next try is due."""
    return with_due_failures(store, [CLOSES])


def replay_batch(store: Store, scope: Scope, settings: Settings) -> Handled:
    """One batch of a namespace's failed closes."""
    size = settings.supersession_replay_batch
    due = [each.unit for each in due_failures(store, scope, [CLOSES], size)]
    if not due:
        return Handled()
    lost = count_lost(store, scope, due, CLOSES, settings, settings.projection_retry_max_attempts)
    units, left = next_try(due, lost)
    if not units:
        return Handled()
    failed = attempt(
        store, scope, units, CLOSES, lambda: try_each(units, lambda some: _derive(store, scope, some), CLOSES)
    )
    count = log_tries(store, scope, units, failed, settings, values={}, only=CLOSES)
    _receipt(store, scope, [unit for unit in units if not failed[unit.unit_id]])
    return Handled(len(units) - count, count, more=left or len(due) >= size)


def _derive(store: Store, scope: Scope, units: Sequence[Unit]) -> Failed:
    """Derives every slot that any version of the units' keys states: an Undo touches them all."""
    faults.reach("supersession_replay", "attempt")
    inputs = read_keys(store, scope, sorted({unit.memory_key for unit in units}))
    ids = sorted(
        {row.memory_id for each in inputs.values() for row in each.rows} | {u.memory_id for u in units}
    )
    triples = {
        (subject, relation, object_)
        for chunk in in_chunks(ids, CHUNK)
        for subject, relation, object_ in store.rows(
            sql("recovery.triples_of_rows"), org=scope.org, namespace=scope.namespace, ids=list(chunk)
        )
    }
    derive_slots(store, scope, triples)
    faults.reach("supersession_replay", "derived")
    return {}


def _receipt(store: Store, scope: Scope, units: Sequence[Unit]) -> None:
    """Writes down as done the units of which nothing else is open."""
    unsettled = {
        failure.unit_id
        for failure in of_units(store, scope, [unit.unit_id for unit in units])
        if failure.state in (OPEN, DEAD)
    }
    write_receipts(store, scope, [(u.unit_id, ALL, 0) for u in units if u.unit_id not in unsettled])
