"""Receipts: written last, they say that a unit's projection stands (invariant 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loom_core import clock, faults
from loom_core.projection.inputs import CHUNK
from loom_core.storage.statements import sql
from loom_core.storage.store import Store, in_chunks
from loom_core.tenancy import Scope

ALL = "all"
"""Stands for every projection: what a run writes in which none failed."""
COLUMNS = ("org", "namespace", "unit_id", "projection", "seen", "done_at")


def write_receipts(store: Store, scope: Scope, receipts: Iterable[tuple[str, str, int]]) -> None:
    """Writes (unit id, projection, inputs seen) down as done."""
    at = clock.now()
    faults.reach("receipts", "insert")
    store.insert(
        "projection_receipts", COLUMNS, [[scope.org, scope.namespace, *receipt, at] for receipt in receipts]
    )


def receipted(store: Store, scope: Scope, unit_ids: Sequence[str], projection: str) -> set[str]:
    """Those of `unit_ids` whose `projection` has a receipt."""
    found: set[str] = set()
    for chunk in in_chunks(unit_ids, CHUNK):
        lines = store.rows(
            sql("projection.receipted"), org=scope.org, namespace=scope.namespace, ids=list(chunk),
            projection=projection,
        )  # fmt: skip
        found |= {line[0] for line in lines}
    return found
