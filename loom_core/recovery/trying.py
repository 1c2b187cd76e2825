"""One try of some units: together first, each alone where that fails; and what is logged of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import structlog

from loom_core import faults
from loom_core.errors import Unavailable
from loom_core.projection import attempts
from loom_core.projection.failures import OPEN, RESOLVED, of_units, record_all, settle
from loom_core.projection.receipts import ALL
from loom_core.projection.units import Unit
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

log = structlog.get_logger(__name__)

Failed = Mapping[str, Exception]
"""By projection, what it raised."""
Run = Callable[[Sequence[Unit]], Failed]
"""Brings some units up to date and says which projections failed."""


def try_each(units: Sequence[Unit], run: Run, name: str = ALL) -> dict[str, Failed]:
    """Runs `units` together and, where that fails, each alone: one row never hurts its neighbours.

    Returns what failed, by unit id; under `name` if `run` itself raised. Raises `Unavailable` if the store is
    away: nothing is known of the units then.
    """
    failed = _run(units, run, name)
    if not failed or len(units) == 1:
        return {unit.unit_id: failed for unit in units}
    return {unit.unit_id: _run([unit], run, name) for unit in units}


def _run(units: Sequence[Unit], run: Run, name: str) -> Failed:
    with faults.working_on({unit.memory_key for unit in units}):
        try:
            failed = run(units)
        except Unavailable:
            raise
        except Exception as error:  # whatever a row makes its projection raise is that row's failure
            log.warning("try_failed", units=len(units), error_class=type(error).__name__)
            failed = {name: error}
    for raised in failed.values():
        if isinstance(raised, Unavailable):
            raise raised
    return failed


def attempt(
    store: Store, scope: Scope, units: Sequence[Unit], name: str, work: Callable[[], dict[str, Failed]]
) -> dict[str, Failed]:
    """Does `work`, the try of `units`, between its record and its report under `name` (invariant 6).

    Raises `Unavailable` if the store is away; the try is then given back to the units (D35).
    """
    batch = attempts.begin(store, scope, [unit.unit_id for unit in units], name)
    try:
        failed = work()
    except Unavailable:
        attempts.refund(store, scope, batch)
        raise
    ends = {id_: attempts.FAILED if failed.get(id_) else attempts.DONE for id_ in batch.unit_ids}
    attempts.finish(store, scope, batch, ends)
    return failed


def log_tries(
    store: Store,
    scope: Scope,
    units: Sequence[Unit],
    failed: Mapping[str, Failed],
    settings: Settings,
    *,
    values: Mapping[str, str],
    overcome: str = RESOLVED,
    only: str | None = None,
    max_attempts: int | None = None,
) -> int:
    """Logs what failed, and settles as `overcome` what fails no more. Returns how many units failed.

    `values`: by memory id, the hash of the value that was tried. `only`: the one projection that was run.
    """
    for unit in units:
        for projection, error in failed.get(unit.unit_id, {}).items():
            record_all(
                store, scope, [unit], projection, error, settings,
                value_sha256=values, max_attempts=max_attempts,
            )  # fmt: skip
    known = of_units(store, scope, [unit.unit_id for unit in units])
    settle(
        store,
        scope,
        [
            failure
            for failure in known
            if failure.state == OPEN
            and failure.projection not in failed.get(failure.unit_id, {})
            and (only == failure.projection if only else ALL not in failed.get(failure.unit_id, {}))
        ],
        overcome,
    )
    return sum(1 for unit in units if failed.get(unit.unit_id))
