from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any, TextIO

import networkx
import pytest
from pyld import jsonld

from loom_core.export import write_graphml, write_jsonld
from loom_core.export.reading import GraphReader
from loom_core.storage.store import Store
from loom_core.tenancy import Scope
from tests.support.graph_rows import GraphRows, day

Write = Callable[[Store, Scope, TextIO, bool], None]
HOSTILE = ["o'brien & <sons>", 'back\\slash "quoted"', "北京 計画", "line\nbreak", "a]]>b"]


def exported(write: Write, graph: GraphRows, include_all: bool = False) -> str:
    out = io.StringIO()
    write(graph.store, graph.scope, out, include_all)
    return out.getvalue()


def as_networkx(graph: GraphRows, include_all: bool = False) -> Any:
    return networkx.parse_graphml(exported(write_graphml, graph, include_all))


def statements(graph: GraphRows, include_all: bool = False) -> list[dict[str, Any]]:
    document = json.loads(exported(write_jsonld, graph, include_all))
    return jsonld.expand(document)


@pytest.fixture
def small(graph: GraphRows) -> GraphRows:
    graph.row("k1", ["anna", "boris"], [("anna", "report_to", "boris")], confidence=0.5)
    graph.row("k2", ["boris", "anna"])
    graph.row("k3", ["anna", "carla"], [("anna", "know", "carla")], start=day(2), closed=day(3))
    graph.land()
    return graph


def test_graphml_loads_into_networkx(small: GraphRows) -> None:
    loaded = as_networkx(small)
    assert sorted(loaded.nodes(data="degree")) == [("anna", 3), ("boris", 2)]
    edges = {data["kind"]: (a, b, data) for a, b, data in loaded.edges(data=True)}
    assert set(edges) == {"co_occur", "triple"}
    assert (*edges["co_occur"][:2], edges["co_occur"][2]["co_occur"]) == ("anna", "boris", 2)
    assert edges["triple"][2]["relation"] == "report_to"
    assert edges["triple"][2]["confidence"] == 0.5


def test_invalidated_edges_come_with_all_and_weigh_nothing(small: GraphRows) -> None:
    loaded = as_networkx(small, include_all=True)
    closed = [data for _, target, data in loaded.edges(data=True) if target == "carla"]
    assert sorted(data["kind"] for data in closed) == ["co_occur", "triple"]
    for data in closed:
        assert (data["co_occur"], data["observations"]) == (0, 1)
        assert (data["valid_from"], data["invalid_at"]) == (day(2).isoformat(), day(3).isoformat())


def test_jsonld_expands_without_fetching_anything(small: GraphRows) -> None:
    items = statements(small)
    kinds = sorted(item["@type"][0].rpartition(":")[2].rpartition("#")[2] for item in items)
    assert kinds == ["CoOccurrence", "Entity", "Entity", "Statement"]
    (statement,) = [item for item in items if item["@type"][0].endswith("#Statement")]
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    assert [statement[rdf + part][0]["@id"] for part in ("subject", "predicate", "object")] == [
        "urn:loom:entity:anna",
        "urn:loom:relation:report_to",
        "urn:loom:entity:boris",
    ]
    assert "urn:loom:vocab:memory_keys" in statement
    assert len(statements(small, include_all=True)) == len(items) + 3


def test_jsonld_turns_into_rdf(small: GraphRows) -> None:
    document = json.loads(exported(write_jsonld, small))
    quads = jsonld.to_rdf(document, {"format": "application/n-quads"})
    assert "<urn:loom:entity:anna>" in quads


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_survive_both_formats(graph: GraphRows, name: str) -> None:
    graph.row("k1", triples=[(name, "own", "kestrel")])
    graph.land()
    assert set(as_networkx(graph).nodes) == {name, "kestrel"}
    names = [
        item["urn:loom:vocab:name"][0]["@value"]
        for item in statements(graph)
        if "urn:loom:vocab:name" in item
    ]
    assert sorted(names) == sorted([name, "kestrel"])


def test_what_xml_cannot_hold_is_escaped(graph: GraphRows) -> None:
    graph.row("k1", triples=[("bell\x07", "own", "kestrel")])
    graph.land()
    assert set(as_networkx(graph).nodes) == {"bell\\u0007", "kestrel"}


@pytest.mark.parametrize("write", [write_graphml, write_jsonld])
def test_the_same_data_gives_the_same_bytes(store: Store, write: Write) -> None:
    texts = []
    for order in (1, -1):
        graph = GraphRows(store)
        for number in range(30):
            graph.row(
                f"k{number}",
                [f"n{number % 7}", f"n{number % 5}"],
                [(f"n{number % 7}", "know", f"n{number % 3}")],
            )
        graph.observations = graph.observations[::order]
        graph.land()
        texts.append(exported(write, graph))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("write", [write_graphml, write_jsonld])
def test_an_empty_namespace_exports_an_empty_graph(graph: GraphRows, write: Write) -> None:
    text = exported(write, graph)
    if write is write_graphml:
        assert len(networkx.parse_graphml(text)) == 0
    else:
        assert json.loads(text)["@graph"] == []


def test_ranges_of_names_make_one_whole(graph: GraphRows) -> None:
    for number in range(40):
        graph.row(f"k{number}", ["hub", f"n{number:02}"], [("hub", "know", f"n{number:02}")])
        graph.row(f"j{number}", [f"n{number:02}", f"n{(number + 1) % 40:02}"])
    graph.land()
    whole = GraphReader.of(graph.store, graph.scope, include_all=False)
    paged = GraphReader(graph.store, graph.scope, include_all=False, at=whole.at, page=7)
    for part in ("entities", "edges", "triples"):
        assert list(getattr(paged, part)()) == list(getattr(whole, part)())
    assert len(list(paged.edges())) == 80
    assert len(list(paged.entities())) == 41


def test_communities_are_exported_with_their_entities(small: GraphRows) -> None:
    scope = [small.scope.org, small.scope.namespace]
    columns = ("org", "namespace", "pass_id", "level", "entity", "community_id", "stable_key", "weight")
    small.store.insert("entity_communities", columns, [[*scope, "p", 0, "anna", 0, 1, 1]])
    small.store.insert("community_passes", ("org", "namespace", "pass_id", "ver"), [[*scope, "p", 1]])
    assert dict(as_networkx(small).nodes(data="community_id")) == {"anna": 0, "boris": None}


def test_another_tenants_graph_is_not_exported(small: GraphRows, store: Store) -> None:
    other = GraphRows(store)
    other.row("k1", ["xenia", "yuri"])
    other.land()
    assert set(as_networkx(other).nodes) == {"xenia", "yuri"}
