"""The `facts.*` ops."""

from __future__ import annotations

from loom_core import clock
from loom_core.clock import micros
from loom_core.facts import models
from loom_core.facts.listing import list_facts
from loom_core.facts.path import find_path
from loom_core.facts.related import related_entities
from loom_core.facts.walk import traverse
from loom_core.facts.walked import WalkLog
from loom_core.projection.expire import expire
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tenancy import CallContext


class FactsService:
    """Reads of the entity graph, and expiry by extractor. One per process; thread-safe.

    Each method takes a call's context and its validated request. Raises `Unavailable` while the store is
    away.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._walks = WalkLog(store)

    def list(self, context: CallContext, request: models.FactsListRequest) -> models.FactsListResponse:
        """`facts.list`"""
        at = clock.now() if request.as_of is None else micros(request.as_of)
        return list_facts(self._store, context.scope, request, at)

    def related(
        self, context: CallContext, request: models.FactsRelatedRequest
    ) -> models.FactsRelatedResponse:
        """`facts.related`"""
        at = clock.now() if request.as_of is None else micros(request.as_of)
        return related_entities(self._store, context.scope, request, at)

    def traverse(
        self, context: CallContext, request: models.FactsTraverseRequest
    ) -> models.FactsTraverseResponse:
        """`facts.traverse`"""
        answer = traverse(self._store, context.scope, self._settings, request)
        self._walks.note(context.scope)
        return answer

    def path(self, context: CallContext, request: models.FactsPathRequest) -> models.FactsPathResponse:
        """`facts.path`"""
        answer = find_path(self._store, context.scope, request)
        self._walks.note(context.scope)
        return answer

    def expire_by_adapter(
        self, context: CallContext, request: models.FactsExpireByAdapterRequest
    ) -> models.FactsExpireByAdapterResponse:
        """`facts.expire_by_adapter`"""
        triples, links = expire(
            self._store, context.scope, request.adapter_name, request.max_confidence, context.agent or ""
        )
        return models.FactsExpireByAdapterResponse(expired_triples=triples, expired_triple_memories=links)
