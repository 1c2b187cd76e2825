"""Which rows are about an entity, and how much an entity tells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope


class Mention(NamedTuple):
    """A key some of whose versions name an entity; `newest` is the latest one's arrival (µs)."""

    entity: str
    memory_key: str
    memory_ids: tuple[str, ...]
    newest: int


def rows_about(store: Store, scope: Scope, entities: Iterable[str], per_entity: int) -> list[Mention]:
    """The `per_entity` newest keys about each entity, live or not."""
    rows = store.rows(
        sql("search.rows_about"),
        org=scope.org,
        namespace=scope.namespace,
        entities=sorted(set(entities)),
        per_entity=per_entity,
    )
    return [Mention(entity, key, tuple(ids), newest) for entity, key, ids, newest in rows]


def entities_of(store: Store, scope: Scope, memory_ids: Sequence[str]) -> list[str]:
    """The entities that row versions name, by name."""
    rows = store.rows(
        sql("search.entities_of"), org=scope.org, namespace=scope.namespace, ids=list(memory_ids)
    )
    return [entity for (entity,) in rows]


def degrees(store: Store, scope: Scope, entities: Sequence[str]) -> dict[str, int]:
    """Co-occurrence degree of each entity, 0 where none is counted."""
    rows = store.rows(
        sql("search.degrees"), org=scope.org, namespace=scope.namespace, entities=list(entities)
    )
    return dict.fromkeys(entities, 0) | dict(rows)


def telling(degree_of: Mapping[str, int]) -> dict[str, float]:
    """How much an entity tells, in (0, 1]: 1 / log2(2 + degree).

    "By shared entities weighted against their degree" (D44), as Adamic and Adar weigh shared neighbours
    ("Friends and neighbors on the Web", 2003); the 2 keeps an entity without an edge at 1.
    """
    return {entity: 1 / math.log2(2 + max(0, degree)) for entity, degree in degree_of.items()}
