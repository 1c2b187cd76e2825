"""Moves stored nodes after an alias or a new lexicon: the rows concerned are projected again under new names."""

from __future__ import annotations

from loom_core import clock
from loom_core.canonical import LEXICON_VERSION, canonicalise
from loom_core.errors import Unavailable
from loom_core.projection.expire import record_event
from loom_core.projection.inputs import NamespaceContext, read_context
from loom_core.projection.project import project_keys
from loom_core.projection.verify import Progress
from loom_core.storage.statements import sql
from loom_core.storage.store import Store, in_chunks
from loom_core.tenancy import Scope

KEYS_A_CHUNK = 200


def rows_to_move(store: Store, scope: Scope, context: NamespaceContext) -> list[str]:
    """Keys of rows with a stored name that would be taken for another node now."""
    moved = set()
    names = {"org": scope.org, "namespace": scope.namespace}
    for mention, entity, key in store.rows(sql("namespace.mentions"), **names):
        canonical = canonicalise(mention)
        if canonical is None or context.node(canonical) != entity:
            moved.add(key)
    for subject, object_, key in store.rows(sql("namespace.triple_ends"), **names):
        for end in (subject, object_):
            canonical = canonicalise(end)
            if canonical is not None and context.node(canonical) != end:
                moved.add(key)
    return sorted(moved)


def recanonicalise(store: Store, scope: Scope, dry_run: bool, progress: Progress) -> list[str]:
    """Projects the rows whose nodes moved; returns their keys. Stopped half-way, the next run does the rest.

    Raises `Unavailable` where a row could not be projected; it is still found by the next run.
    """
    keys = rows_to_move(store, scope, read_context(store, scope))
    if dry_run or not keys:
        return keys
    # A new revision: what is projected from here on is newer than anything projected under the old names.
    record_event(store, scope, "recanonicalise", {"lexicon": LEXICON_VERSION}, clock.now(), "")
    done = 0
    for chunk in in_chunks(keys, KEYS_A_CHUNK):
        failed = project_keys(store, scope, list(chunk)).degraded()
        if failed:
            raise Unavailable("not_moved", f"{', '.join(failed)} failed; run it again to go on")
        done += len(chunk)
        progress("rows", done, len(keys))
    return keys
