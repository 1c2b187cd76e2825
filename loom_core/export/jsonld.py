"""JSON-LD 1.1: the same graph as linked data, its context inside, so that nothing is fetched to read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO
from urllib.parse import quote

from loom_core.export.reading import Edge, GraphReader
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

CONTEXT: dict[str, Any] = {
    "@version": 1.1,
    "@vocab": "urn:loom:vocab:",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "Statement": "rdf:Statement",
    "subject": {"@id": "rdf:subject", "@type": "@id"},
    "predicate": {"@id": "rdf:predicate", "@type": "@id"},
    "object": {"@id": "rdf:object", "@type": "@id"},
    "between": {"@type": "@id"},
    "confidence": {"@type": "xsd:double"},
    "valid_from": {"@type": "xsd:dateTime"},
    "valid_to": {"@type": "xsd:dateTime"},
    "invalid_at": {"@type": "xsd:dateTime"},
}


def write_jsonld(store: Store, scope: Scope, out: TextIO, include_all: bool = False) -> None:
    """Writes the graph as it holds now; with `include_all` also "invalidated edges", whose `co_occur` is 0.

    An entity is a node `urn:loom:entity:<name>`; a triple an RDF statement about two of them; a co-occurrence
    a node `between` two of them, for it has no direction. `memory_keys`: up to ten rows behind each. One item
    a line.
    """
    graph = GraphReader.of(store, scope, include_all)
    out.write(f'{{"@context":{_json(CONTEXT)},\n"@graph":[')
    separator = "\n"
    for item in _items(graph):
        out.write(separator + _json(item))
        separator = ",\n"
    out.write("\n]}\n")


def _items(graph: GraphReader) -> Iterator[dict[str, Any]]:
    for entity in graph.entities():
        yield {
            "@id": _entity(entity.name),
            "@type": "Entity",
            "name": entity.name,
            "degree": entity.degree,
            "community_id": entity.community_id,
        }
    for edge in graph.edges():
        yield {
            "@id": f"urn:loom:pair:{_escaped(edge.source)}:{_escaped(edge.target)}",
            "@type": "CoOccurrence",
            "between": [_entity(edge.source), _entity(edge.target)],
            **_folded(edge),
        }
    for triple in graph.triples():
        names = (triple.source, triple.relation, triple.target)
        yield {
            "@id": f"urn:loom:triple:{':'.join(map(_escaped, names))}",
            "@type": "Statement",
            "subject": _entity(triple.source),
            "predicate": f"urn:loom:relation:{_escaped(triple.relation)}",
            "object": _entity(triple.target),
            **_folded(triple),
            "confidence": triple.confidence,
            "adapter_name": triple.adapter_name,
            "provenance": triple.provenance,
        }


def _folded(edge: Edge) -> dict[str, Any]:
    return {
        "co_occur": edge.co_occur,
        "observations": edge.observations,
        "valid_from": edge.valid_from.isoformat(),
        "valid_to": edge.valid_to.isoformat() if edge.valid_to else None,
        "invalid_at": edge.invalid_at.isoformat() if edge.invalid_at else None,
        "memory_keys": edge.memory_keys,
    }


def _entity(name: str) -> str:
    return f"urn:loom:entity:{_escaped(name)}"


def _escaped(text: str) -> str:
    return quote(text, safe="")


def _json(value: dict[str, Any]) -> str:
    present = {name: item for name, item in value.items() if item is not None}
    return json.dumps(present, ensure_ascii=False, separators=(",", ":"))
