"""One usual request and answer per op, for the OpenAPI document. A test holds each against its models."""

from __future__ import annotations

from typing import Any

WHO = {"org": "dev", "namespace": "local"}
KEY = "billing/depends_on"
AT = "2026-03-01T09:30:00Z"
MEMORY_ID = "9f3ab21c5d8e4f7091a2b3c4d5e6f708"
TEXT = "The billing service reads invoices from the ledger database."
ROW: dict[str, Any] = {
    "memory_id": MEMORY_ID,
    "memory_key": KEY,
    "version": 1,
    "value": TEXT,
    "entities": ["billing service", "ledger database"],
    "relations": [],
    "tags": [],
    "confidence": 1.0,
    "valid_at": None,
    "valid_to": None,
    "sensitivity": "normal",
    "status": "live",
    "created_at": AT,
}
WRITTEN: dict[str, Any] = {
    "memory_id": MEMORY_ID,
    "memory_key": KEY,
    "version": 1,
    "content_sha256": "1f" * 32,
    "status": "live",
    "noop": False,
    "degraded": [],
    "advisories": [],
}
BULK: dict[str, Any] = {"written": [WRITTEN | {"index": 0}], "refused": [], "ontology_warnings": []}
FACT: dict[str, Any] = {
    "subject": "billing service",
    "relation": "read_from",
    "object": "ledger database",
    "co_occur": 2,
    "confidence": 0.9,
    "adapter_name": "caller",
    "provenance": "extracted",
    "first_seen": AT,
    "last_seen": AT,
    "valid_from": AT,
    "valid_to": None,
    "invalid_at": None,
    "sources": [KEY],
    "source_status": [],
    "stale": False,
}
NODE: dict[str, Any] = {
    "entity": "ledger database",
    "hop": 1,
    "cumulative_weight": 2,
    "via_co_occur": 2,
    "path": ["billing service", "ledger database"],
    "valid_from": AT,
    "valid_to": None,
    "degree": 5,
    "community_id": None,
    "hub": False,
    "via_relation": None,
    "via_direction": None,
    "via_provenance": None,
}
EDGE: dict[str, Any] = {
    "source": "billing service",
    "target": "ledger database",
    "co_occur": 2,
    "valid_from": AT,
    "valid_to": None,
    "relation": None,
    "direction": None,
}
RELATED_ROW: dict[str, Any] = {
    "memory_key": "ledger/outage",
    "memory_id": MEMORY_ID,
    "shared": ["ledger database"],
    "value": "The ledger database was down for an hour.",
}
SET: dict[str, Any] = {"memory_key": KEY, "value": TEXT, "entities": ["billing service", "ledger database"]}
UPDATE: dict[str, Any] = {"tags": ["architecture"]}
UPDATED: dict[str, Any] = WRITTEN | {"updated": True, "reason": None, "version": 2, "ontology_warnings": []}
ONTOLOGY: dict[str, Any] = {
    "entity_types": ["service"],
    "relations": [{"name": "own_by", "cardinality": "one"}],
    "attributes": [],
}

EXAMPLES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "memory.set": (WHO | SET, WRITTEN | {"ontology_warnings": []}),
    "memory.set_many": (WHO | {"entries": [SET]}, BULK),
    "memory.set_from_messages": (
        WHO | {"messages": [{"role": "user", "content": "I moved to Paris on October 1.", "at": AT}]},
        BULK | {"deferred": True, "queue_id": "entity_extractor", "pipeline_errors": []},
    ),
    "memory.update": (WHO | UPDATE | {"memory_key": KEY}, UPDATED),
    "memory.update_by_id": (WHO | UPDATE | {"memory_id": MEMORY_ID}, UPDATED),
    "memory.get": (WHO | {"memory_key": KEY}, ROW | {"found": True}),
    "memory.history": (WHO | {"memory_key": KEY}, {"found": True, "memory_key": KEY, "versions": [ROW]}),
    "memory.delete": (WHO | {"memory_key": KEY}, {"found": True, "tombstoned": True}),
    "memory.restore": (
        WHO | {"memory_key": KEY, "version": 1},
        {"memory_id": MEMORY_ID, "version": 1, "restored": True},
    ),
    "memory.erase": (
        WHO | {"memory_key": KEY},
        {"found": True, "erased": {"memory": 2, "entity_edges": 1}, "done": True},
    ),
    "memory.link": (
        WHO | {"from_key": "ledger/outage", "to_key": KEY, "link_type": "caused"},
        {"from_key": "ledger/outage", "to_key": KEY, "link_type": "caused", "created": True},
    ),
    "memory.search": (
        WHO | {"query": "what does the billing service read?", "search_mode": "graph"},
        {"hits": [{"memory_key": KEY, "memory_id": MEMORY_ID, "score": 1.5, "value": TEXT, "via": "entity"}]},
    ),
    "memory.related": (WHO | {"memory_key": KEY}, {"found": True, "rows": [RELATED_ROW | {"score": 0.4}]}),
    "memory.backlinks": (WHO | {"memory_key": KEY}, {"found": True, "rows": [RELATED_ROW | {"at": AT}]}),
    "memory.timeline": (
        WHO | {"entity": "The Ledger Databases"},
        {"entity": "ledger database", "rows": [RELATED_ROW | {"at": AT}]},
    ),
    "namespace.taxonomy": (
        WHO,
        {
            "entities": [{"entity": "ledger database", "degree": 5, "community_id": 0}],
            "communities": [
                {"community_id": 0, "size": 2, "name": "ledger database", "members": ["ledger database"]}
            ],
        },
    ),
    "namespace.alias": (
        WHO | {"alias": "ledger db", "entity": "ledger database"},
        {"alias": "ledger db", "entity": "ledger database", "moved": 3},
    ),
    "namespace.register_ontology": (WHO | ONTOLOGY, ONTOLOGY),
    "namespace.configure": (WHO | {"consolidation": True}, {"consolidation": True}),
    "facts.expire_by_adapter": (
        WHO | {"adapter_name": "openai/gpt-4o-mini", "max_confidence": 0.5},
        {"expired_triples": 12, "expired_triple_memories": 12},
    ),
    "facts.list": (
        WHO | {"subject": "billing service", "include_sources": True},
        {"rows": [FACT], "truncated": False},
    ),
    "facts.path": (
        WHO | {"entity_a": "billing service", "entity_b": "ledger database"},
        {
            "entity_a": "billing service",
            "entity_b": "ledger database",
            "found": True,
            "path": ["billing service", "ledger database"],
            "edges": [EDGE],
            "hops": 1,
            "truncated": False,
        },
    ),
    "facts.related": (
        WHO | {"entity": "billing service"},
        {
            "entity": "billing service",
            "related": [
                {
                    "entity": "ledger database",
                    "co_occur": 2,
                    "seed_side": "subject",
                    "relations": ["read_from"],
                    "valid_from": AT,
                    "valid_to": None,
                }
            ],
        },
    ),
    "facts.traverse": (
        WHO | {"seed_entity": "billing service", "max_hops": 2},
        {
            "seed": "billing service",
            "seed_community_id": None,
            "nodes": [NODE],
            "truncated": False,
            "hubs": [],
        },
    ),
    "ops.health": (WHO, {"status": "ok", "checks": {"clickhouse": True, "redis": True, "migrations": True}}),
    "ops.capabilities": (
        WHO,
        {
            "version": "0.1.0",
            "ops": ["facts.list", "facts.traverse"],
            "llm_provider": "fake",
            "workers": {"entity_extractor": True},
        },
    ),
    "ops.fleet": (
        WHO,
        {
            "workers": [
                {
                    "worker": "entity_extractor",
                    "enabled": True,
                    "last_run": AT,
                    "backlog": 3,
                    "oldest_age_s": 12.5,
                    "failures": {"open": 0, "dead": 0},
                }
            ]
        },
    ),
}
