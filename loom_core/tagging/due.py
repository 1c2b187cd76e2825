"""Which row versions an extractor has yet to read."""

from __future__ import annotations

from loom_core import clock
from loom_core.coordination.due import with_due_failures, with_landings_since_mark
from loom_core.coordination.marks import read_mark, searched_in_vain
from loom_core.projection.due import due_failures
from loom_core.projection.failures import EXTRACTION
from loom_core.projection.units import Unit
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

MARK = "extraction"
SOURCE = "untagged"
"""Rows an extractor may read, as `namespace_activity` names them."""


def due_scopes(store: Store) -> set[Scope]:
    """Namespaces with rows to read, or where a row landed since all were known to be read."""
    landed = with_landings_since_mark(store, [SOURCE], MARK).items()
    return with_due_failures(store, [EXTRACTION]) | {scope for scope, each in landed if not each.rests()}


def due_rows(store: Store, scope: Scope, limit: int) -> list[Unit]:
    """Row versions to read now: those to be tried again first, then the earliest to land."""
    again = [each.unit for each in due_failures(store, scope, [EXTRACTION], limit)]
    return again + (untagged(store, scope, limit - len(again)) if len(again) < limit else [])


def untagged(store: Store, scope: Scope, limit: int) -> list[Unit]:
    """Row versions without declared entities that an extractor may read and none has, nor failed to (D37).

    Where there are none, moves the mark up to which everything is known to be read.
    """
    mark = read_mark(store, scope, MARK)
    lines = store.rows(
        sql("tagging.untagged"),
        org=scope.org, namespace=scope.namespace, since=mark.since, until=mark.now + clock.DAY, limit=limit,
    )  # fmt: skip
    if not lines:
        searched_in_vain(store, mark)
    return [Unit(memory_id, "row", key, memory_id, landed) for memory_id, key, landed in lines]
