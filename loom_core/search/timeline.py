"""`memory.timeline`: an entity's memories in time order."""

from __future__ import annotations

from dataclasses import dataclass

from loom_core.clock import instant
from loom_core.facts.names import resolve
from loom_core.memory.models import DatedRow, MemoryTimelineRequest, MemoryTimelineResponse
from loom_core.search.live import first_live, pages, shown_value
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope


@dataclass(frozen=True, slots=True)
class Dated:
    """A row version about the entity, at its `valid_at`, else its arrival (µs)."""

    memory_key: str
    memory_ids: tuple[str, ...]
    at: int


def timeline(store: Store, scope: Scope, request: MemoryTimelineRequest) -> MemoryTimelineResponse:
    """The live rows about an entity "by `valid_at`, else arrival, oldest first" (D44), then by key."""
    (entity,) = resolve(store, scope, request.entity)
    if entity is None:
        return MemoryTimelineResponse(entity="")
    node = entity

    def fetch(offset: int, size: int) -> list[Dated]:
        rows = store.rows(
            sql("search.timeline"),
            org=scope.org,
            namespace=scope.namespace,
            entity=node,
            offset=offset,
            limit=size,
        )
        return [Dated(key, (memory_id,), at) for key, memory_id, at in rows]

    return MemoryTimelineResponse(
        entity=node,
        rows=[
            DatedRow(
                memory_key=row.memory_key,
                memory_id=row.memory_id,
                at=instant(dated.at),
                shared=[node],
                value=shown_value(row),
            )
            for dated, row in first_live(store, scope, pages(fetch, request.limit), request.limit)
        ],
    )
