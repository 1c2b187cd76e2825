"""`agent.namespace`: what a namespace is about, and its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loom.client.transport import Transport, given


class Namespace:
    """The `namespace.*` ops. Every method answers the op's JSON object as a dict, and raises `LoomError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def taxonomy(self, *, limit: int = 100) -> dict[str, Any]:
        """The top entities, and the communities once computed."""
        return await self._transport.call("namespace.taxonomy", {"limit": limit})

    async def alias(self, alias: str, entity: str, *, remove: bool = False) -> dict[str, Any]:
        """Let one entity's name lead to another; `remove` takes it back."""
        arguments = {"alias": alias, "entity": entity, "remove": remove}
        return await self._transport.call("namespace.alias", arguments, write=True)

    async def register_ontology(
        self,
        *,
        entity_types: Sequence[str] | None = None,
        relations: Sequence[Mapping[str, str]] | None = None,
        attributes: Sequence[Mapping[str, str]] | None = None,
    ) -> dict[str, Any]:
        """Merge preferred types, verbs and attributes (`name`, `cardinality`: one or many) by name."""
        arguments = given(entity_types=entity_types, relations=relations, attributes=attributes)
        return await self._transport.call("namespace.register_ontology", arguments, write=True)

    async def configure(self, consolidation: bool) -> dict[str, Any]:
        """Turn consolidation on or off."""
        return await self._transport.call("namespace.configure", {"consolidation": consolidation}, write=True)
