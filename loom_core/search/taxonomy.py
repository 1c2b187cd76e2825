"""`namespace.taxonomy`: "a namespace's top entities, and communities when computed"."""

from __future__ import annotations

from loom_core.facts.communities import community_ids
from loom_core.namespace.models import (
    NamespaceTaxonomyRequest,
    NamespaceTaxonomyResponse,
    TaxonomyCommunity,
    TaxonomyEntity,
)
from loom_core.search.about import rows_about
from loom_core.search.live import live_rows
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

MEMBERS = 10
NAMED_AFTER = 3
"""A community is named after its strongest members."""
ROWS_LOOKED_AT = 5
"""Rows of an entity without an edge that are looked at for one that is live."""


def taxonomy(store: Store, scope: Scope, request: NamespaceTaxonomyRequest) -> NamespaceTaxonomyResponse:
    """`limit` entities by degree, then name, those without an edge last; the `limit` largest communities."""
    names = {"org": scope.org, "namespace": scope.namespace}
    counted = store.rows(sql("search.top_entities"), limit=request.limit, **names)
    entities = dict(counted)
    if room := request.limit - len(entities):
        entities |= dict.fromkeys(_without_edges(store, scope, list(entities), room), 0)
    communities = community_ids(store, scope, entities)
    rows = store.rows(sql("search.communities"), members=MEMBERS, limit=request.limit, **names)
    return NamespaceTaxonomyResponse(
        entities=[
            TaxonomyEntity(entity=entity, degree=degree, community_id=communities.get(entity))
            for entity, degree in entities.items()
        ],
        communities=[
            TaxonomyCommunity(
                community_id=community_id, size=size, name=", ".join(members[:NAMED_AFTER]), members=members
            )
            for community_id, size, members in rows
        ],
    )


def _without_edges(store: Store, scope: Scope, known: list[str], limit: int) -> list[str]:
    """Entities that live rows name alone, by name."""
    rows = store.rows(
        sql("search.other_entities"), org=scope.org, namespace=scope.namespace, known=known, limit=limit
    )
    mentions = rows_about(store, scope, [entity for (entity,) in rows], ROWS_LOOKED_AT) if rows else []
    live = live_rows(store, scope, {mention.memory_key for mention in mentions})
    standing = {
        mention.entity
        for mention in mentions
        if (row := live.get(mention.memory_key)) and row.memory_id in mention.memory_ids
    }
    return sorted(standing)
