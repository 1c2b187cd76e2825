"""What the `facts.*` ops take and return: the fields of the user's reference page, in its order."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from loom_core.wire import INTEGRAL, Answer, Count, Instant, Scoped, Stamp, Text, capped, none_as

Provenance = Literal["extracted", "inferred", "facet"]
RankBy = Literal["co_occur", "specificity", "cosine"]

Hops = Annotated[int, Field(ge=1), INTEGRAL, capped(4)]
TopK = Annotated[int, Field(ge=1), INTEGRAL, capped(100)]
Relations = Annotated[list[Text], none_as(list), Field(max_length=100)]

_AS_OF = "Only what holds at this instant; absent: what holds now."
_LABELED = "Walk every typed edge instead of co-occurrence."
_RELATIONS = "Walk only typed edges with these verbs; given, it implies `labeled`."
_MIN_CO_OCCUR = "Leave out what was observed fewer times."


class FactsExpireByAdapterRequest(Scoped):
    """`facts.expire_by_adapter`: remove what one extractor stated; the memories stay."""

    adapter_name: Text = Field(min_length=1, description="The extractor, exactly as its triples name it.")
    max_confidence: Annotated[float, Field(ge=0), capped(1.0)] = Field(
        1.0, description="Only triples strictly less confident; 1.0 sets no ceiling."
    )


class FactsExpireByAdapterResponse(Answer):
    """How much was removed."""

    expired_triples: int = Field(description="Observations removed: one a row version (D28).")
    expired_triple_memories: int = Field(description="Their links to source keys.")


class FactsListRequest(Scoped):
    """`facts.list`: triples by subject, object and relation together, or by entity at either end."""

    subject: Text | None = Field(None, description="The triple's subject.")
    object: Text | None = Field(None, description="The triple's object; not read where `entity` is given.")
    relation: Text | None = Field(None, description="The verb, in any tense.")
    entity: Text | None = Field(None, description="The subject or the object.")
    limit: Annotated[int, Field(ge=1), INTEGRAL, capped(500)] = Field(
        50, description="Triples at most; capped at 500."
    )
    sort_by: Literal["co_occur", "recency"] = Field(
        "co_occur", description="`co_occur`: most observed first; `recency`: last seen first."
    )
    include_sources: bool = Field(False, description="Add the keys of the rows behind each triple.")
    include_source_status: bool = Field(
        False, description="Add each source row's status; mark open triples whose rows are all superseded."
    )
    min_co_occur: Count = Field(1, description=_MIN_CO_OCCUR)
    as_of: Instant | None = Field(None, description=_AS_OF)
    provenance: list[Provenance] | None = Field(None, description="Keep only these; absent: all.")


class SourceStatus(Answer):
    """A source row's key and whether it still stands."""

    memory_key: str
    status: str


class FactRow(Answer):
    """One triple, summed over its observations (D41)."""

    subject: str
    relation: str
    object: str
    co_occur: int
    confidence: float
    adapter_name: str
    provenance: Provenance
    first_seen: Stamp
    last_seen: Stamp
    valid_from: Stamp | None = None
    valid_to: Stamp | None = None
    invalid_at: Stamp | None = None
    sources: list[str] = Field(default_factory=list)
    source_status: list[SourceStatus] = Field(default_factory=list)
    stale: bool = False


class FactsListResponse(Answer):
    """The triples that match."""

    rows: list[FactRow] = Field(description="In the order of `sort_by`.")
    truncated: bool = Field(description="More matched than `limit`.")


class FactsPathRequest(Scoped):
    """`facts.path`: the shortest chain of edges between two entities."""

    entity_a: Text = Field(description="One end.")
    entity_b: Text = Field(description="The other end.")
    max_hops: Hops = Field(3, description="Longest chain looked for, 1 to 4.")
    top_k_per_hop: TopK = Field(20, description="Strongest neighbours kept per entity and hop, 1 to 100.")
    min_co_occur: Count = Field(1, description=_MIN_CO_OCCUR)
    as_of: Instant | None = Field(None, description=_AS_OF)
    relations: Relations = Field(default_factory=list, description=_RELATIONS)
    labeled: bool = Field(False, description=_LABELED)


class PathEdge(Answer):
    """One step of a path; `relation` and `direction` on typed edges only."""

    source: str
    target: str
    co_occur: int
    valid_from: Stamp | None = None
    valid_to: Stamp | None = None
    relation: str | None = None
    direction: Literal["out", "in"] | None = None


class FactsPathResponse(Answer):
    """The chain, if there is one."""

    entity_a: str = Field(description="The canonical form that was searched.")
    entity_b: str = Field(description="Likewise.")
    found: bool = Field(description="A chain within `max_hops` exists, or both ends are one entity.")
    path: list[str] = Field(description="From `entity_a` to `entity_b`; empty where none was found.")
    edges: list[PathEdge] = Field(description="One fewer than `path`.")
    hops: int = Field(description="Edges in the chain; where none was found, hops explored.")
    truncated: bool = Field(description="The search was cut somewhere: the answer may be incomplete.")


class FactsRelatedRequest(Scoped):
    """`facts.related`: the entities that occur together with one."""

    entity: Text = Field(description="The entity whose neighbours are listed.")
    top_k: Annotated[int, Field(ge=1), INTEGRAL, capped(200)] = Field(
        20, description="Neighbours at most; capped at 200."
    )
    as_of: Instant | None = Field(None, description=_AS_OF)


class RelatedEntity(Answer):
    """A neighbour; `seed_side` says at which end of their triples the seed stands (D25)."""

    entity: str
    co_occur: int
    seed_side: Literal["subject", "object", "both", "none"]
    relations: list[str] = Field(default_factory=list)
    valid_from: Stamp | None = None
    valid_to: Stamp | None = None


class FactsRelatedResponse(Answer):
    """Strongest first."""

    entity: str = Field(description='The canonical form, or "" where there is none.')
    related: list[RelatedEntity] = Field(description="Neighbours over co-occurrence and any relation.")


class FactsTraverseRequest(Scoped):
    """`facts.traverse`: the neighbourhood of an entity, hop by hop."""

    seed_entity: Text = Field(description="Where the walk starts.")
    max_hops: Hops = Field(2, description="How far out, 1 to 4.")
    top_k_per_hop: TopK = Field(20, description="Children kept per parent and hop, 1 to 100.")
    min_co_occur: Count = Field(1, description=_MIN_CO_OCCUR)
    max_nodes: Annotated[int, Field(ge=1), INTEGRAL, capped(5000)] = Field(
        400, description="At most this many nodes in all; capped at 5,000."
    )
    as_of: Instant | None = Field(None, description=_AS_OF)
    relations: Relations = Field(default_factory=list, description=_RELATIONS)
    labeled: bool = Field(False, description=_LABELED)
    hub_degree: Annotated[int, Field(ge=0), INTEGRAL, capped(2**63 - 1)] | None = Field(
        None, description="A node of at least this degree is a hub: reported, not expanded. 0 or absent: off."
    )
    hub_share: Annotated[float, Field(ge=0), capped(1.0)] | None = Field(
        None, description="A node is a hub where its edge is at most this share of its degree. 0: off."
    )
    rank_by: RankBy | None = Field(None, description="What each hop's trim prefers. Absent: the setting.")


class TraversalNode(Answer):
    """One entity the walk reached, at its first hop, through its strongest parent."""

    entity: str
    hop: int
    cumulative_weight: int
    via_co_occur: int
    path: list[str]
    valid_from: Stamp | None = None
    valid_to: Stamp | None = None
    degree: int
    community_id: int | None = None
    hub: bool = False
    via_relation: str | None = None
    via_direction: Literal["out", "in"] | None = None
    via_provenance: Provenance | None = None


class FactsTraverseResponse(Answer):
    """The walk as a tree."""

    seed: str = Field(description="The canonical form walked from.")
    seed_community_id: int | None = Field(None, description="Its community, if the last pass gave it one.")
    nodes: list[TraversalNode] = Field(description="By hop, then heaviest first.")
    truncated: bool = Field(description="`max_nodes` cut the walk short.")
    hubs: list[str] = Field(default_factory=list, description="Reported but not expanded, as they were met.")
