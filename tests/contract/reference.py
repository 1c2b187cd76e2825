"""The fields of the `facts.*` ops as the user's reference page has them: name, type, default.

`...` stands for required, `COMPUTED` for a default that is worked out. A test holds the page itself against
this file wherever the page can be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

COMPUTED = "(computed)"
WHO = (("org", "str", ...), ("namespace", "str", ...))
INSTANT = "datetime | None"
TEXT = "str | None"


@dataclass(frozen=True)
class Reference:
    """One op."""

    role: str
    kind: str
    audited: bool
    listed: bool
    inputs: tuple[tuple[str, str, Any], ...]
    outputs: tuple[tuple[str, str], ...]


FACTS: dict[str, Reference] = {
    "facts.expire_by_adapter": Reference(
        role="admin",
        kind="write",
        audited=True,
        listed=False,
        inputs=(*WHO, ("adapter_name", "str", ...), ("max_confidence", "float", 1.0)),
        outputs=(("expired_triples", "int"), ("expired_triple_memories", "int")),
    ),
    "facts.list": Reference(
        role="viewer",
        kind="read",
        audited=False,
        listed=True,
        inputs=(
            *WHO,
            ("subject", TEXT, None),
            ("object", TEXT, None),
            ("relation", TEXT, None),
            ("entity", TEXT, None),
            ("limit", "int", 50),
            ("sort_by", "Literal['co_occur', 'recency']", "co_occur"),
            ("include_sources", "bool", False),
            ("include_source_status", "bool", False),
            ("min_co_occur", "int", 1),
            ("as_of", INSTANT, None),
            ("provenance", "list[Literal['extracted', 'inferred', 'facet']] | None", None),
        ),
        outputs=(("rows", "list[FactRow]"), ("truncated", "bool")),
    ),
    "facts.path": Reference(
        role="viewer",
        kind="read",
        audited=False,
        listed=False,
        inputs=(
            *WHO,
            ("entity_a", "str", ...),
            ("entity_b", "str", ...),
            ("max_hops", "int", 3),
            ("top_k_per_hop", "int", 20),
            ("min_co_occur", "int", 1),
            ("as_of", INSTANT, None),
            ("relations", "list[str]", COMPUTED),
            ("labeled", "bool", False),
        ),
        outputs=(
            ("entity_a", "str"),
            ("entity_b", "str"),
            ("found", "bool"),
            ("path", "list[str]"),
            ("edges", "list[_PathEdge]"),
            ("hops", "int"),
            ("truncated", "bool"),
        ),
    ),
    "facts.related": Reference(
        role="viewer",
        kind="read",
        audited=False,
        listed=False,
        inputs=(*WHO, ("entity", "str", ...), ("top_k", "int", 20), ("as_of", INSTANT, None)),
        outputs=(("entity", "str"), ("related", "list[_RelatedEntity]")),
    ),
    "facts.traverse": Reference(
        role="viewer",
        kind="read",
        audited=False,
        listed=True,
        inputs=(
            *WHO,
            ("seed_entity", "str", ...),
            ("max_hops", "int", 2),
            ("top_k_per_hop", "int", 20),
            ("min_co_occur", "int", 1),
            ("max_nodes", "int", 400),
            ("as_of", INSTANT, None),
            ("relations", "list[str]", COMPUTED),
            ("labeled", "bool", False),
            ("hub_degree", "int | None", None),
            ("hub_share", "float | None", None),
            ("rank_by", "Literal['co_occur', 'specificity', 'cosine'] | None", None),
        ),
        outputs=(
            ("seed", "str"),
            ("seed_community_id", "int | None"),
            ("nodes", "list[_TraversalNode]"),
            ("truncated", "bool"),
            ("hubs", "list[str]"),
        ),
    ),
}

NESTED: dict[str, tuple[str, ...]] = {
    "FactRow": (
        *("subject", "relation", "object", "co_occur", "confidence", "adapter_name", "provenance"),
        *("first_seen", "last_seen", "valid_from", "valid_to", "invalid_at"),
        *("sources", "source_status", "stale"),
    ),
    "RelatedEntity": ("entity", "co_occur", "seed_side", "relations", "valid_from", "valid_to"),
    "TraversalNode": (
        *("entity", "hop", "cumulative_weight", "via_co_occur", "path", "valid_from", "valid_to"),
        *("degree", "community_id", "hub", "via_relation", "via_direction", "via_provenance"),
    ),
    "PathEdge": ("source", "target", "co_occur", "valid_from", "valid_to", "relation", "direction"),
}

OPS: dict[str, str] = {
    "memory.set": "writer",
    "memory.set_many": "writer",
    "memory.set_from_messages": "writer",
    "memory.update": "writer",
    "memory.update_by_id": "writer",
    "memory.get": "viewer",
    "memory.history": "viewer",
    "memory.delete": "writer",
    "memory.restore": "writer",
    "memory.erase": "admin",
    "memory.link": "writer",
    "memory.search": "viewer",
    "memory.related": "viewer",
    "memory.backlinks": "viewer",
    "memory.timeline": "viewer",
    "namespace.taxonomy": "viewer",
    "namespace.alias": "admin",
    "namespace.register_ontology": "admin",
    "namespace.configure": "admin",
    "ops.health": "viewer",
    "ops.capabilities": "viewer",
    "ops.fleet": "viewer",
} | {name: op.role for name, op in FACTS.items()}
"""Every op and the role it needs."""
