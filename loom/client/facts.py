"""`agent.facts`: the entity graph."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from loom.client.transport import Transport, given

Instant = datetime | str


class Facts:
    """The `facts.*` ops. Every method answers the op's JSON object as a dict, and raises `LoomError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(
        self,
        *,
        subject: str | None = None,
        object: str | None = None,
        relation: str | None = None,
        entity: str | None = None,
        limit: int = 50,
        sort_by: Literal["co_occur", "recency"] = "co_occur",
        include_sources: bool = False,
        include_source_status: bool = False,
        min_co_occur: int = 1,
        as_of: Instant | None = None,
        provenance: Sequence[Literal["extracted", "inferred", "facet"]] | None = None,
    ) -> dict[str, Any]:
        """Triples by subject, object and relation together, or by an entity at either end."""
        return await self._transport.call(
            "facts.list",
            given(
                subject=subject,
                object=object,
                relation=relation,
                entity=entity,
                limit=limit,
                sort_by=sort_by,
                include_sources=include_sources,
                include_source_status=include_source_status,
                min_co_occur=min_co_occur,
                as_of=as_of,
                provenance=provenance,
            ),
        )

    async def related(self, entity: str, *, top_k: int = 20, as_of: Instant | None = None) -> dict[str, Any]:
        """The entities that occur together with one, strongest first."""
        return await self._transport.call("facts.related", given(entity=entity, top_k=top_k, as_of=as_of))

    async def traverse(
        self,
        seed_entity: str,
        *,
        max_hops: int = 2,
        top_k_per_hop: int = 20,
        min_co_occur: int = 1,
        max_nodes: int = 400,
        as_of: Instant | None = None,
        relations: Sequence[str] | None = None,
        labeled: bool = False,
        hub_degree: int | None = None,
        hub_share: float | None = None,
        rank_by: Literal["co_occur", "specificity", "cosine"] | None = None,
    ) -> dict[str, Any]:
        """The neighbourhood of an entity, hop by hop, as a tree."""
        return await self._transport.call(
            "facts.traverse",
            given(
                seed_entity=seed_entity,
                max_hops=max_hops,
                top_k_per_hop=top_k_per_hop,
                min_co_occur=min_co_occur,
                max_nodes=max_nodes,
                as_of=as_of,
                relations=relations,
                labeled=labeled,
                hub_degree=hub_degree,
                hub_share=hub_share,
                rank_by=rank_by,
            ),
        )

    async def path(
        self,
        entity_a: str,
        entity_b: str,
        *,
        max_hops: int = 3,
        top_k_per_hop: int = 20,
        min_co_occur: int = 1,
        as_of: Instant | None = None,
        relations: Sequence[str] | None = None,
        labeled: bool = False,
    ) -> dict[str, Any]:
        """The shortest chain of edges between two entities."""
        return await self._transport.call(
            "facts.path",
            given(
                entity_a=entity_a,
                entity_b=entity_b,
                max_hops=max_hops,
                top_k_per_hop=top_k_per_hop,
                min_co_occur=min_co_occur,
                as_of=as_of,
                relations=relations,
                labeled=labeled,
            ),
        )

    async def expire_by_adapter(self, adapter_name: str, *, max_confidence: float = 1.0) -> dict[str, Any]:
        """Remove the triples that one extractor stated, below a confidence; the memories stay."""
        return await self._transport.call(
            "facts.expire_by_adapter",
            given(adapter_name=adapter_name, max_confidence=max_confidence),
            write=True,
        )
