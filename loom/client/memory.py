"""`agent.memory`: rows, their versions, and search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, Final, Literal

from loom.client.transport import Transport, given

Instant = datetime | str
Sensitivity = Literal["normal", "high"]
Relation = Sequence[str] | Mapping[str, Any]
"""`[subject, relation, object]`, or an object with these and `valid_from`, `valid_to`, `confidence`."""


class Keep(Enum):
    """The type of `KEEP`."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP
"""An update leaves this field as it is; None would say `null`, a value here: it takes a date away."""


class Memory:
    """The `memory.*` ops. Every method answers the op's JSON object as a dict, and raises `LoomError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def set(
        self,
        memory_key: str,
        value: Any,
        *,
        entities: Sequence[str] | None = None,
        relations: Sequence[Relation] | None = None,
        valid_at: Instant | None = None,
        valid_to: Instant | None = None,
        sensitivity: Sensitivity = "normal",
        tags: Sequence[str] | None = None,
        confidence: float = 1.0,
        supersedes: Sequence[str] | None = None,
        if_match_sha256: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Write one row. `entities=[]` says it is about none; without `entities` the extractor tags it."""
        arguments = given(
            memory_key=memory_key,
            entities=entities,
            relations=relations,
            valid_at=valid_at,
            valid_to=valid_to,
            sensitivity=sensitivity,
            tags=tags,
            confidence=confidence,
            supersedes=supersedes,
            if_match_sha256=if_match_sha256,
            dry_run=dry_run,
        )
        return await self._transport.call("memory.set", {**arguments, "value": value}, write=True)

    async def set_many(self, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Write many rows, each a mapping of `set`'s fields; each is written or refused on its own."""
        return await self._transport.call("memory.set_many", {"entries": entries}, write=True)

    async def set_from_messages(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        key_prefix: str | None = None,
        valid_at: Instant | None = None,
        sensitivity: Sensitivity = "normal",
    ) -> dict[str, Any]:
        """Write one row a message (`role`, `content`, perhaps `at`); the fleet extracts from them."""
        arguments = given(
            messages=messages, key_prefix=key_prefix, valid_at=valid_at, sensitivity=sensitivity
        )
        return await self._transport.call("memory.set_from_messages", arguments, write=True)

    async def update(
        self,
        memory_key: str,
        *,
        value: Any = KEEP,
        entities: Sequence[str] | None = None,
        relations: Sequence[Relation] | Keep | None = KEEP,
        valid_at: Instant | Keep | None = KEEP,
        valid_to: Instant | Keep | None = KEEP,
        sensitivity: Sensitivity | None = None,
        tags: Sequence[str] | None = None,
        confidence: float | None = None,
        supersedes: Sequence[str] | None = None,
        if_match_sha256: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Change what is named of a row; the rest stays."""
        arguments = given(
            memory_key=memory_key,
            entities=entities,
            sensitivity=sensitivity,
            tags=tags,
            confidence=confidence,
            supersedes=supersedes,
            if_match_sha256=if_match_sha256,
            dry_run=dry_run,
        )
        changes = _changes(value=value, relations=relations, valid_at=valid_at, valid_to=valid_to)
        return await self._transport.call("memory.update", arguments | changes, write=True)

    async def update_by_id(
        self,
        memory_id: str,
        *,
        value: Any = KEEP,
        entities: Sequence[str] | None = None,
        relations: Sequence[Relation] | Keep | None = KEEP,
        valid_at: Instant | Keep | None = KEEP,
        valid_to: Instant | Keep | None = KEEP,
        sensitivity: Sensitivity | None = None,
        tags: Sequence[str] | None = None,
        confidence: float | None = None,
        supersedes: Sequence[str] | None = None,
        if_match_sha256: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Like `update`, by the id of the row's current version."""
        arguments = given(
            memory_id=memory_id,
            entities=entities,
            sensitivity=sensitivity,
            tags=tags,
            confidence=confidence,
            supersedes=supersedes,
            if_match_sha256=if_match_sha256,
            dry_run=dry_run,
        )
        changes = _changes(value=value, relations=relations, valid_at=valid_at, valid_to=valid_to)
        return await self._transport.call("memory.update_by_id", arguments | changes, write=True)

    async def get(self, memory_key: str) -> dict[str, Any]:
        """The current version; `found` is false where there is none."""
        return await self._transport.call("memory.get", {"memory_key": memory_key})

    async def history(self, memory_key: str) -> dict[str, Any]:
        """Every version, newest first."""
        return await self._transport.call("memory.history", {"memory_key": memory_key})

    async def delete(self, memory_key: str) -> dict[str, Any]:
        """Tombstone a row; `restore` brings it back."""
        return await self._transport.call("memory.delete", {"memory_key": memory_key}, write=True)

    async def restore(
        self, memory_key: str | None = None, *, version: int | None = None, memory_id: str | None = None
    ) -> dict[str, Any]:
        """Undo: an earlier version lives again; by key alone, the one before the current one."""
        arguments = given(memory_key=memory_key, version=version, memory_id=memory_id)
        return await self._transport.call("memory.restore", arguments, write=True)

    async def erase(self, memory_key: str) -> dict[str, Any]:
        """Remove every trace of a row, for good."""
        return await self._transport.call("memory.erase", {"memory_key": memory_key}, write=True)

    async def link(self, from_key: str, to_key: str, link_type: str) -> dict[str, Any]:
        """Assert an edge between two rows: supports, depends_on, caused, contradicts, relates_to, …"""
        arguments = {"from_key": from_key, "to_key": to_key, "link_type": link_type}
        return await self._transport.call("memory.link", arguments, write=True)

    async def search(
        self,
        query: str,
        *,
        search_mode: Literal["text", "graph"] = "text",
        entity_filter: Sequence[str] | None = None,
        limit: int = 20,
    ) -> dict[str, Any]:
        """Rows by text, or one hop out in the graph from the query's entities."""
        arguments = given(query=query, search_mode=search_mode, entity_filter=entity_filter, limit=limit)
        return await self._transport.call("memory.search", arguments)

    async def related(self, memory_key: str, *, limit: int = 20) -> dict[str, Any]:
        """Rows that share entities with a row, strongest first."""
        return await self._transport.call("memory.related", {"memory_key": memory_key, "limit": limit})

    async def backlinks(self, memory_key: str, *, limit: int = 20) -> dict[str, Any]:
        """Rows that share a row's entities or link to it, newest first."""
        return await self._transport.call("memory.backlinks", {"memory_key": memory_key, "limit": limit})

    async def timeline(self, entity: str, *, limit: int = 100) -> dict[str, Any]:
        """An entity's memories in time order."""
        return await self._transport.call("memory.timeline", {"entity": entity, "limit": limit})


def _changes(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not KEEP}
