"""GraphML (http://graphml.graphdrawing.org), as networkx, igraph, Gephi and yEd read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, TextIO
from xml.sax.saxutils import escape, quoteattr

from loom_core.export.reading import Edge, GraphReader, Triple
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

NODE_KEYS = {"degree": "long", "community_id": "int"}
EDGE_KEYS = {
    "kind": "string",
    "co_occur": "long",
    "observations": "long",
    "valid_from": "string",
    "valid_to": "string",
    "invalid_at": "string",
    "relation": "string",
    "confidence": "double",
    "adapter_name": "string",
    "provenance": "string",
}
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_graphml(store: Store, scope: Scope, out: TextIO, include_all: bool = False) -> None:
    """Writes the graph as it holds now; with `include_all` also "invalidated edges", whose `co_occur` is 0.

    One directed graph, since readers take no mixed one: an edge of kind `co_occur` has no direction and
    stands once, from the lesser name to the greater; one of kind `triple` runs from subject to object. A
    node's id is its name. What XML cannot hold is written as `\\uXXXX`.
    """
    graph = GraphReader.of(store, scope, include_all)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
    for owner, keys in (("node", NODE_KEYS), ("edge", EDGE_KEYS)):
        for name, type_ in keys.items():
            out.write(f'<key id="{name}" for="{owner}" attr.name="{name}" attr.type="{type_}"/>\n')
    out.write('<graph edgedefault="directed">\n')
    for entity in graph.entities():
        data = _data({"degree": entity.degree, "community_id": entity.community_id})
        out.write(f"<node id={_attribute(entity.name)}>{data}</node>\n")
    for line in _edges(graph):
        out.write(line)
    out.write("</graph>\n</graphml>\n")


def _edges(graph: GraphReader) -> Iterator[str]:
    for edge in graph.edges():
        yield _edge(edge, {"kind": "co_occur"})
    for triple in graph.triples():
        yield _edge(triple, {"kind": "triple"} | _said(triple))


def _said(triple: Triple) -> dict[str, Any]:
    return {
        "relation": triple.relation,
        "confidence": triple.confidence,
        "adapter_name": triple.adapter_name,
        "provenance": triple.provenance,
    }


def _edge(edge: Edge, values: dict[str, Any]) -> str:
    folded = {
        "co_occur": edge.co_occur,
        "observations": edge.observations,
        "valid_from": edge.valid_from,
        "valid_to": edge.valid_to,
        "invalid_at": edge.invalid_at,
    }
    ends = f"source={_attribute(edge.source)} target={_attribute(edge.target)}"
    return f"<edge {ends}>{_data(values | folded)}</edge>\n"


def _data(values: Mapping[str, Any]) -> str:
    return "".join(
        f'<data key="{name}">{escape(_text(value))}</data>'
        for name, value in values.items()
        if value is not None
    )


def _text(value: Any) -> str:
    return _legal(value.isoformat() if isinstance(value, datetime) else str(value))


def _attribute(text: str) -> str:
    return quoteattr(_legal(text))


def _legal(text: str) -> str:
    return NOT_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
