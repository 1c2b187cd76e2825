"""One namespace, written and searched as a caller would, in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loom_core.memory import models
from loom_core.memory.service import MemoryService
from loom_core.memory.writer import Writer
from loom_core.search.service import SearchService
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tenancy import CallContext, Scope


@dataclass
class Loom:
    """A namespace and the services that write and search it."""

    store: Store
    scope: Scope
    settings: Settings

    @property
    def memory(self) -> MemoryService:
        return MemoryService(Writer(self.store, self.settings, lambda worker, scope: None))

    @property
    def searching(self) -> SearchService:
        return SearchService(self.store, self.settings)

    def set(self, key: str, value: Any, *entities: str, **fields: Any) -> str:
        """Writes a row and returns its id."""
        request = self._request(
            models.MemorySetRequest, memory_key=key, value=value, entities=list(entities), **fields
        )
        return self.memory.set(self.context, request).memory_id

    def set_many(self, *entries: tuple[str, Any, tuple[str, ...]]) -> None:
        """Writes (key, value, entities) in one call, in order."""
        stated = [
            {"memory_key": key, "value": value, "entities": list(names)} for key, value, names in entries
        ]
        self.memory.set_many(self.context, self._request(models.MemorySetManyRequest, entries=stated))

    def delete(self, key: str) -> None:
        self.memory.delete(self.context, self._request(models.MemoryKeyRequest, memory_key=key))

    def restore(self, memory_id: str) -> None:
        self.memory.restore(self.context, self._request(models.MemoryRestoreRequest, memory_id=memory_id))

    def link(self, from_key: str, to_key: str, link_type: str = "supports") -> None:
        request = self._request(
            models.MemoryLinkRequest, from_key=from_key, to_key=to_key, link_type=link_type
        )
        self.memory.link(self.context, request)

    def search(self, query: str, **fields: Any) -> list[models.SearchHit]:
        request = self._request(models.MemorySearchRequest, query=query, **fields)
        return self.searching.search(self.context, request).hits

    def related(self, key: str, **fields: Any) -> models.MemoryRelatedResponse:
        return self.searching.related(self.context, self._beside(key, fields))

    def backlinks(self, key: str, **fields: Any) -> models.MemoryBacklinksResponse:
        return self.searching.backlinks(self.context, self._beside(key, fields))

    def timeline(self, entity: str, **fields: Any) -> models.MemoryTimelineResponse:
        request = self._request(models.MemoryTimelineRequest, entity=entity, **fields)
        return self.searching.timeline(self.context, request)

    @property
    def context(self) -> CallContext:
        return CallContext(self.scope, agent="tester", role="writer")

    def names(self) -> dict[str, str]:
        return {"org": self.scope.org, "namespace": self.scope.namespace}

    def _beside(self, key: str, fields: dict[str, Any]) -> models.MemoryNeighboursRequest:
        return self._request(models.MemoryNeighboursRequest, memory_key=key, **fields)

    def _request(self, model: Any, **fields: Any) -> Any:
        return model(**self.names(), **fields)
