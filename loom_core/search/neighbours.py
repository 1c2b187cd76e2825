"""`memory.related` and `memory.backlinks`: the rows beside a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loom_core.clock import instant
from loom_core.memory.current import current_rows
from loom_core.memory.models import (
    DatedRow,
    MemoryBacklinksResponse,
    MemoryNeighboursRequest,
    MemoryRelatedResponse,
    RelatedRow,
)
from loom_core.search.about import degrees, entities_of, telling
from loom_core.search.live import first_live, pages, shown_value
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope


@dataclass(frozen=True, slots=True)
class Beside:
    """A row version beside the one asked about, with the entities both name."""

    memory_key: str
    memory_ids: tuple[str, ...]
    shared: Sequence[str]
    score: float = 0.0
    arrival: int = 0


def related_rows(store: Store, scope: Scope, request: MemoryNeighboursRequest) -> MemoryRelatedResponse:
    """Rows "that share entities with a row, by shared entities weighted against their degree" (D44)."""
    row = current_rows(store, scope, [request.memory_key]).get(request.memory_key)
    if row is None:
        return MemoryRelatedResponse(found=False)
    entities = entities_of(store, scope, [row.memory_id])
    weights = telling(degrees(store, scope, entities))

    def fetch(offset: int, size: int) -> list[Beside]:
        rows = store.rows(
            sql("search.sharing"),
            org=scope.org,
            namespace=scope.namespace,
            memory_key=request.memory_key,
            entities=entities,
            weights=[weights[entity] for entity in entities],
            offset=offset,
            limit=size,
        )
        return [Beside(key, (memory_id,), shared, score) for key, memory_id, shared, score in rows]

    found = first_live(store, scope, pages(fetch, request.limit), request.limit) if entities else []
    return MemoryRelatedResponse(
        found=True,
        rows=[
            RelatedRow(
                memory_key=other.memory_key,
                memory_id=other.memory_id,
                score=beside.score,
                shared=list(beside.shared),
                value=shown_value(other),
            )
            for beside, other in found
        ],
    )


def backlinks(store: Store, scope: Scope, request: MemoryNeighboursRequest) -> MemoryBacklinksResponse:
    """Rows "that share its entities or link to it, newest first" (D44): by arrival, then by key."""
    row = current_rows(store, scope, [request.memory_key]).get(request.memory_key)
    if row is None:
        return MemoryBacklinksResponse(found=False)
    entities = entities_of(store, scope, [row.memory_id])

    def fetch(offset: int, size: int) -> list[Beside]:
        rows = store.rows(
            sql("search.backlinks"),
            org=scope.org,
            namespace=scope.namespace,
            memory_key=request.memory_key,
            entities=entities,
            offset=offset,
            limit=size,
        )
        return [
            Beside(key, (memory_id,), shared, arrival=arrival) for key, memory_id, arrival, shared in rows
        ]

    return MemoryBacklinksResponse(
        found=True,
        rows=[
            DatedRow(
                memory_key=other.memory_key,
                memory_id=other.memory_id,
                at=instant(other.arrival),
                shared=list(beside.shared),
                value=shown_value(other),
            )
            for beside, other in first_live(store, scope, pages(fetch, request.limit), request.limit)
        ],
    )
