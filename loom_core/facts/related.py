"""`facts.related`: the entities that occur together with one, over both edge sets (D25)."""

from __future__ import annotations

from typing import Literal

from loom_core.clock import instant, optional_instant
from loom_core.facts.models import FactsRelatedRequest, FactsRelatedResponse, RelatedEntity
from loom_core.facts.names import resolve
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

Side = Literal["subject", "object", "both", "none"]


def related_entities(
    store: Store, scope: Scope, request: FactsRelatedRequest, at: int
) -> FactsRelatedResponse:
    """Neighbours at `at` (µs), by the number of distinct source keys that link them, then by name."""
    (entity,) = resolve(store, scope, request.entity)
    if entity is None:
        return FactsRelatedResponse(entity="", related=[])
    rows = store.rows(
        sql("facts.related"),
        org=scope.org,
        namespace=scope.namespace,
        entity=entity,
        at=at,
        limit=request.top_k,
    )
    return FactsRelatedResponse(
        entity=entity,
        related=[
            RelatedEntity(
                entity=neighbour,
                co_occur=co_occur,
                seed_side=_seed_side(as_subject, as_object),
                relations=relations,
                valid_from=instant(since),
                valid_to=optional_instant(until),
            )
            for neighbour, co_occur, as_subject, as_object, relations, since, until in rows
        ],
    )


def _seed_side(as_subject: int, as_object: int) -> Side:
    if as_subject and as_object:
        return "both"
    if as_subject:
        return "subject"
    return "object" if as_object else "none"
