"""Tries that never reported back: their process was killed, most likely by one of the rows it had in hand.

They count (D35). A unit that was lost is tried alone next, so that it takes no neighbour with it again, and
only a unit that was lost while alone can use up its tries this way: the others of its batch pay one try each.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from loom_core import clock
from loom_core.projection.failures import DEAD, OPEN, Failure, delay_s, failure_id, of_units, write
from loom_core.projection.units import Unit
from loom_core.settings import Settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

LOST = "WorkerLost"
MESSAGE = "the process that tried it ended without a report"


def count_lost(
    store: Store, scope: Scope, units: Sequence[Unit], projection: str, settings: Settings, max_attempts: int
) -> dict[str, Failure]:
    """Moves lost tries of these units into the failure log; returns the units that are lost, by unit id.

    A unit is lost as long as the last thing known of its `projection` is a lost try. Call it under the lease:
    a try that is under way elsewhere is counted too.
    """
    ids = [unit.unit_id for unit in units]
    known = {f.unit_id: f for f in of_units(store, scope, ids) if f.projection == projection}
    tries = {
        "org": scope.org,
        "namespace": scope.namespace,
        "ids": ids,
        "projection": projection,
        "before": clock.now(),
    }
    counts = {
        unit_id: (total, alone) for unit_id, total, alone in store.rows(sql("recovery.lost_tries"), **tries)
    }
    if counts:
        counted = [
            _counted(
                scope,
                unit,
                projection,
                known.get(unit.unit_id),
                *counts[unit.unit_id],
                settings,
                max_attempts,
            )
            for unit in units
            if unit.unit_id in counts
        ]
        # The log first: a death between the two counts a try twice; the other way round it is never counted.
        write(store, scope, counted)
        store.command(sql("recovery.count_as_lost"), **tries)
        known |= {failure.unit_id: failure for failure in counted}
    return {id_: f for id_, f in known.items() if f.error_class == LOST and f.state in (OPEN, DEAD)}


def next_try(units: Sequence[Unit], lost: Mapping[str, Failure]) -> tuple[list[Unit], bool]:
    """The units to try now, and whether others are left that are due.

    Those never lost together; where there are none, the first lost one with tries left whose time has come.
    """
    together = [unit for unit in units if unit.unit_id not in lost]
    now = clock.now()
    alone = [
        unit
        for unit in units
        if unit.unit_id in lost and lost[unit.unit_id].state != DEAD and lost[unit.unit_id].next_try_at <= now
    ]
    return (together, bool(alone)) if together else (alone[:1], len(alone) > 1)


def _counted(
    scope: Scope, unit: Unit, projection: str, known: Failure | None, total: int, alone: int,
    settings: Settings, max_attempts: int,
) -> Failure:  # fmt: skip
    now = clock.now()
    attempts = (known.attempts if known else 0) + total
    # Lost in company it may be innocent and is tried again at once; lost alone it has to wait.
    wait_s = alone and delay_s(
        attempts,
        settings.projection_retry_base_delay_s,
        settings.projection_retry_max_delay_s,
        random.random(),
    )
    return Failure(
        failure_id(scope, unit.unit_id, projection), unit.unit_id, unit.memory_key, unit.memory_id,
        projection, DEAD if alone and attempts >= max_attempts else OPEN, attempts, LOST, MESSAGE,
        known.value_sha256 if known else "", unit.landed_at, known.first_failed_at if known else now, now,
        now + int(wait_s * clock.SECOND), max(now, known.ver + 1 if known else 0),
    )  # fmt: skip
