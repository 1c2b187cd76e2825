"""Which community each entity is in, by the pass that readers see."""

from __future__ import annotations

from collections.abc import Iterable

from loom_core.storage.statements import sql
from loom_core.storage.store import Store, in_chunks
from loom_core.tenancy import Scope

ENTITIES_A_QUERY = 2_000


def community_ids(store: Store, scope: Scope, entities: Iterable[str]) -> dict[str, int]:
    """Level 0, the finest, of the latest whole pass (D30, D32); no key for an entity without a community."""
    found: dict[str, int] = {}
    for chunk in in_chunks(sorted(set(entities)), ENTITIES_A_QUERY):
        rows = store.rows(
            sql("facts_walk.communities"), org=scope.org, namespace=scope.namespace, entities=list(chunk)
        )
        found.update(rows)
    return found
