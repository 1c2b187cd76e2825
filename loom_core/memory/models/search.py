"""What the ops that find rows take and return: by text, through the graph, in time."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from loom_core.memory.models.entries import MAX_ENTITIES
from loom_core.memory.models.rows import MemoryKeyRequest
from loom_core.wire import INTEGRAL, Answer, Identified, Stamp, Text, capped, none_as

Limit = Annotated[int, Field(ge=1), INTEGRAL, capped(500)]


class MemorySearchRequest(Identified):
    """`memory.search`: by text, or one hop out from the query's entities."""

    query: Text = Field(max_length=10_000)
    search_mode: Literal["text", "graph"] = "text"
    entity_filter: Annotated[list[Text], none_as(list), Field(max_length=MAX_ENTITIES)] = Field(
        default_factory=list, description="Rows about these entities rank higher."
    )
    limit: Limit = 20


class SearchHit(Answer):
    """A row that answers the query."""

    memory_key: str
    memory_id: str
    score: float
    value: Any
    via: str = Field(description="What led to it: text, entity, co_occur, triple or link.")


class MemorySearchResponse(Answer):
    """Best first; ties by key."""

    hits: list[SearchHit] = Field(default_factory=list)


class MemoryNeighboursRequest(MemoryKeyRequest):
    """`memory.related` and `memory.backlinks`."""

    limit: Limit = 20


class MemoryTimelineRequest(Identified):
    """`memory.timeline`: an entity's memories in time order."""

    entity: Text
    limit: Limit = 100


class RelatedRow(Answer):
    """A row that shares entities with the one asked about."""

    memory_key: str
    memory_id: str
    score: float
    shared: list[str] = Field(default_factory=list)
    value: Any = None


class DatedRow(Answer):
    """A row at its place in time."""

    memory_key: str
    memory_id: str
    at: Stamp
    shared: list[str] = Field(default_factory=list)
    value: Any = None


class MemoryRelatedResponse(Answer):
    """Strongest first (D44)."""

    found: bool
    rows: list[RelatedRow] = Field(default_factory=list)


class MemoryBacklinksResponse(Answer):
    """Newest first (D44)."""

    found: bool
    rows: list[DatedRow] = Field(default_factory=list)


class MemoryTimelineResponse(Answer):
    """Oldest first (D44). `entity` is the canonical form, or "" where there is none."""

    entity: str
    rows: list[DatedRow] = Field(default_factory=list)
