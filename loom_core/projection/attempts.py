"""Tries, counted in the table before they are made (invariant 6): a row that kills its process is seen to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loom_core import clock
from loom_core.errors import Unavailable
from loom_core.memory.rows import digest
from loom_core.storage.statements import sql
from loom_core.storage.store import Store, in_chunks
from loom_core.tenancy import Scope

COLUMNS = (
    "org", "namespace", "unit_id", "projection", "attempt_id", "batch_id", "batch_size", "outcome", "at", "ver"
)  # fmt: skip
RUNNING, DONE, FAILED, REFUNDED = "", "done", "failed", "refunded"


@dataclass(frozen=True, slots=True)
class Batch:
    """Units that are tried together, as written down before the try."""

    projection: str
    batch_id: str
    unit_ids: Sequence[str]
    at: int


_owed: list[tuple[Scope, Batch]] = []
"""Tries of this process that the store was away for: it could not be told that they are given back."""


@dataclass(frozen=True, slots=True)
class Unreported:
    """Tries of a unit that never reported back: how many, and how many of those it was alone in."""

    total: int
    alone: int
    latest_at: int


def begin(store: Store, scope: Scope, unit_ids: Sequence[str], projection: str) -> Batch:
    """Writes down that these units are about to be tried together, before they are."""
    at = clock.now()
    batch = Batch(projection, digest("batch", str(at), *unit_ids), list(unit_ids), at)
    _write_or_owe(store, scope, batch, dict.fromkeys(unit_ids, RUNNING), ver=0)
    return batch


def finish(store: Store, scope: Scope, batch: Batch, outcomes: dict[str, str]) -> None:
    """Reports how each unit's try ended: `done`, `failed` or `refunded` (D35).

    Raises `Unavailable` if the store is away. The try is owed to its units then: `take_owed`.
    """
    _write_or_owe(store, scope, batch, outcomes, ver=1)


def take_owed() -> list[tuple[Scope, Batch]]:
    """The tries to give back once the store is there again; they are the caller's to see to from now on."""
    taken = list(_owed)
    _owed.clear()
    return taken


def refund(store: Store, scope: Scope, batch: Batch) -> None:
    """Gives the units of a batch their try back. Raises `Unavailable`, and owes it, if the store is away."""
    finish(store, scope, batch, dict.fromkeys(batch.unit_ids, REFUNDED))


def unreported(
    store: Store, scope: Scope, unit_ids: Sequence[str], projection: str, before: int
) -> dict[str, Unreported]:
    """Tries begun before `before` (µs) that never reported back, per unit that has any.

    Each such unit is tried alone next; the tries it died in alone are its own, so that a poison row spends only
    its own tries (D35).
    """
    found: dict[str, Unreported] = {}
    for chunk in in_chunks(unit_ids, 2000):
        lines = store.rows(
            sql("attempts.unreported"),
            org=scope.org,
            namespace=scope.namespace,
            ids=list(chunk),
            projection=projection,
            before=before,
        )
        found |= {unit_id: Unreported(total, alone, at) for unit_id, total, alone, at in lines}
    return found


def _write_or_owe(store: Store, scope: Scope, batch: Batch, outcomes: dict[str, str], ver: int) -> None:
    try:
        _write(store, scope, batch, outcomes, ver)
    except Unavailable:
        # Also at the beginning: the record may have been kept although its answer was lost.
        _owed.append((scope, batch))
        raise


def _write(store: Store, scope: Scope, batch: Batch, outcomes: dict[str, str], ver: int) -> None:
    store.insert(
        "projection_attempts",
        COLUMNS,
        [
            [scope.org, scope.namespace, unit_id, batch.projection, batch.batch_id, batch.batch_id,
             len(batch.unit_ids), outcome, batch.at, ver]
            for unit_id, outcome in outcomes.items()
        ],
    )  # fmt: skip
