"""The ops that find memories: `memory.search`, `related`, `backlinks`, `timeline`, `namespace.taxonomy`."""

from __future__ import annotations

from loom_core.facts.names import resolve
from loom_core.memory import models
from loom_core.namespace.models import NamespaceTaxonomyRequest, NamespaceTaxonomyResponse
from loom_core.search.expansion import search_graph
from loom_core.search.live import shown_value
from loom_core.search.neighbours import backlinks, related_rows
from loom_core.search.taxonomy import taxonomy
from loom_core.search.text import search_text
from loom_core.search.timeline import timeline
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tenancy import CallContext


class SearchService:
    """Finds live, current rows. One per process; thread-safe. Raises `Unavailable` while the store is away.

    A high-sensitivity row is never found by its text; where its declared entities lead to it, its key is
    shown and its value is not.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def search(
        self, context: CallContext, request: models.MemorySearchRequest
    ) -> models.MemorySearchResponse:
        """`memory.search`: best first, then newest, then by key. `entity_filter` boosts in text mode only."""
        scope, hits = context.scope, []
        if request.search_mode == "graph":
            graph = search_graph(self._store, scope, self._settings, request.query, request.limit)
            hits = [(hit.score, hit.via, row) for hit, row in graph]
        else:
            about = [node for node in resolve(self._store, scope, *request.entity_filter) if node]
            text = search_text(self._store, scope, request.query, about, request.limit)
            hits = [(hit.score, "text", row) for hit, row in text]
        return models.MemorySearchResponse(
            hits=[
                models.SearchHit(
                    memory_key=row.memory_key,
                    memory_id=row.memory_id,
                    score=score,
                    value=shown_value(row),
                    via=via,
                )
                for score, via, row in hits
            ]
        )

    def related(
        self, context: CallContext, request: models.MemoryNeighboursRequest
    ) -> models.MemoryRelatedResponse:
        """`memory.related`"""
        return related_rows(self._store, context.scope, request)

    def backlinks(
        self, context: CallContext, request: models.MemoryNeighboursRequest
    ) -> models.MemoryBacklinksResponse:
        """`memory.backlinks`"""
        return backlinks(self._store, context.scope, request)

    def timeline(
        self, context: CallContext, request: models.MemoryTimelineRequest
    ) -> models.MemoryTimelineResponse:
        """`memory.timeline`"""
        return timeline(self._store, context.scope, request)

    def taxonomy(self, context: CallContext, request: NamespaceTaxonomyRequest) -> NamespaceTaxonomyResponse:
        """`namespace.taxonomy`"""
        return taxonomy(self._store, context.scope, request)
