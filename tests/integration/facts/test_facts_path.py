from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import networkx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loom_core.facts.models import FactsPathRequest, FactsPathResponse
from loom_core.facts.service import FactsService
from loom_core.storage.store import Store
from tests.support.graph_rows import GraphRows, day


def path(facts: FactsService, graph: GraphRows, a: str, b: str, **fields: object) -> FactsPathResponse:
    request = FactsPathRequest(
        org=graph.scope.org, namespace=graph.scope.namespace, entity_a=a, entity_b=b, **fields
    )
    return facts.path(graph.context, request)


def outcome(answer: FactsPathResponse) -> tuple[bool, bool]:
    return answer.found, answer.truncated


def chain(graph: GraphRows, *names: str) -> None:
    for a, b in pairwise(names):
        graph.row(f"{a}-{b}", [a, b])


LINE = [f"stop {letter}" for letter in "abcdef"]


def test_b86_two_names_of_one_entity_are_a_path_of_one(facts: FactsService, graph: GraphRows) -> None:
    answer = path(facts, graph, "The Billing Service", "billing services")
    assert answer.path == ["billing service"]
    assert (answer.found, answer.edges, answer.hops, answer.truncated) == (True, [], 0, False)


@pytest.mark.parametrize(("a", "b"), [("stop a", "nowhere"), ("nowhere", "stop a"), ("nowhere", "neverland")])
@pytest.mark.parametrize("max_hops", [1, 4])
def test_b86_an_unknown_entity_is_not_connected_and_nothing_was_cut(
    facts: FactsService, graph: GraphRows, a: str, b: str, max_hops: int
) -> None:
    chain(graph, *LINE)
    for number in range(30):
        graph.row(f"k{number}", ["stop a", f"other {number}"])
    graph.land()
    assert outcome(path(facts, graph, a, b, max_hops=max_hops)) == (False, False)


@pytest.mark.parametrize(
    ("max_hops", "found", "truncated"), [(4, False, True), (3, False, True), (1, False, True)]
)
def test_b86_a_goal_beyond_max_hops_leaves_frontier_unexplored(
    facts: FactsService, graph: GraphRows, max_hops: int, found: bool, truncated: bool
) -> None:
    chain(graph, *LINE)
    graph.land()
    answer = path(facts, graph, LINE[0], LINE[5], max_hops=max_hops)
    assert (answer.found, answer.truncated, answer.hops) == (found, truncated, max_hops)
    assert (answer.path, answer.edges) == ([], [])


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_a_chain_is_found_within_max_hops_and_not_one_hop_earlier(
    facts: FactsService, graph: GraphRows, length: int
) -> None:
    chain(graph, *LINE)
    graph.land()
    answer = path(facts, graph, LINE[0], LINE[length], max_hops=length)
    assert (answer.path, answer.hops, answer.truncated) == (LINE[: length + 1], length, False)
    assert [(edge.source, edge.target) for edge in answer.edges] == list(pairwise(LINE[: length + 1]))
    if length > 1:
        assert not path(facts, graph, LINE[0], LINE[length], max_hops=length - 1).found


def test_b86_trimming_that_hides_the_only_link_is_told(facts: FactsService, graph: GraphRows) -> None:
    for end, other in (("alpha", "loud one"), ("beta", "loud two")):
        graph.row(f"{end}-link", [end, "middle"])
        for number in range(3):
            graph.row(f"{end}-{number}", [end, other])
    graph.land()
    assert outcome(path(facts, graph, "alpha", "beta", top_k_per_hop=1)) == (False, True)
    assert path(facts, graph, "alpha", "beta", top_k_per_hop=2).path == ["alpha", "middle", "beta"]


def test_two_components_are_not_connected_for_certain(facts: FactsService, graph: GraphRows) -> None:
    chain(graph, "aaa", "bbb", "ccc")
    chain(graph, "xxx", "yyy")
    graph.land()
    assert outcome(path(facts, graph, "aaa", "xxx", max_hops=4)) == (False, False)
    assert outcome(path(facts, graph, "ccc", "yyy", max_hops=4)) == (False, False)


def test_a_found_path_says_that_neighbours_were_dropped_on_the_way(
    facts: FactsService, graph: GraphRows
) -> None:
    chain(graph, "alpha", "middle", "beta")
    for number in range(3):
        graph.row(f"k{number}", ["alpha", "middle"])
        graph.row(f"j{number}", ["alpha", f"other {number}"])
    graph.land()
    answer = path(facts, graph, "alpha", "beta", top_k_per_hop=1)
    assert (answer.path, answer.truncated) == (["alpha", "middle", "beta"], True)


@pytest.mark.parametrize("name", ["they", "x" * 257])
def test_an_end_without_a_canonical_form_gives_an_empty_answer(
    facts: FactsService, graph: GraphRows, name: str
) -> None:
    answer = path(facts, graph, "alpha", name)
    assert (answer.entity_a, answer.entity_b) == ("alpha", "")
    assert outcome(answer) == (False, False)


def test_min_co_occur_removes_thin_edges(facts: FactsService, graph: GraphRows) -> None:
    chain(graph, "alpha", "beta")
    chain(graph, "alpha", "middle", "beta")
    chain(graph, "alpha", "middle", "beta")
    graph.land()
    assert path(facts, graph, "alpha", "beta").path == ["alpha", "beta"]
    assert path(facts, graph, "alpha", "beta", min_co_occur=2).path == ["alpha", "middle", "beta"]


def test_a_typed_path_names_each_edges_relation_and_direction(facts: FactsService, graph: GraphRows) -> None:
    graph.row("k1", triples=[("anna", "report_to", "boris"), ("carla", "manage", "boris")], start=day(2))
    graph.row("k2", ["anna", "carla"])
    graph.land()
    answer = path(facts, graph, "anna", "carla", labeled=True)
    assert [(e.source, e.relation, e.direction, e.target) for e in answer.edges] == [
        ("anna", "report_to", "out", "boris"),
        ("boris", "manage", "in", "carla"),
    ]
    assert [(e.co_occur, e.valid_from, e.valid_to) for e in answer.edges] == [(1, day(2), None)] * 2
    assert not path(facts, graph, "anna", "carla", relations=["manage"]).found
    assert path(facts, graph, "anna", "carla").edges[0].relation is None


def test_b25_a_path_as_of_an_instant_uses_only_edges_that_held_then(
    facts: FactsService, graph: GraphRows
) -> None:
    graph.row("k1", ["alpha", "middle"], start=day(1), end=day(9))
    graph.row("k2", ["middle", "beta"], start=day(3))
    graph.land()
    tick = timedelta(microseconds=1)
    for as_of, found in ((day(3) - tick, False), (day(3), True), (day(9) - tick, True), (day(9), False)):
        assert path(facts, graph, "alpha", "beta", as_of=as_of).found is found


def test_two_tenants_share_no_edge(facts: FactsService, store: Store) -> None:
    one, two = GraphRows(store), GraphRows(store)
    chain(one, "alpha", "middle")
    chain(two, "middle", "beta")
    one.land()
    two.land()
    assert not path(facts, one, "alpha", "beta").found


NAMES = [f"node {letter}" for letter in "abcdefghij"]


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    pairs=st.lists(
        st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True), min_size=1, max_size=30
    ),
    ends=st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True),
    max_hops=st.integers(1, 4),
    typed=st.booleans(),
)
def test_the_path_is_the_best_of_all_shortest_ones(
    store: Store, facts: FactsService, pairs: list[list[str]], ends: list[str], max_hops: int, typed: bool
) -> None:
    graph = GraphRows(store)
    plain = networkx.Graph()
    for number, (a, b) in enumerate(pairs):
        graph.row(f"k{number}", () if typed else (a, b), [(a, "know", b)] if typed else ())
        plain.add_edge(a, b, weight=plain.get_edge_data(a, b, {"weight": 0})["weight"] + 1)
    graph.land()
    start, goal = ends
    answer = path(facts, graph, start, goal, max_hops=max_hops, top_k_per_hop=100, labeled=typed)
    connected = all(plain.has_node(end) for end in ends) and networkx.has_path(plain, start, goal)
    shortest = networkx.shortest_path_length(plain, start, goal) if connected else None
    assert answer.found is (shortest is not None and shortest <= max_hops)
    if answer.found:
        rivals = networkx.all_shortest_paths(plain, start, goal)
        best = min(
            rivals,
            key=lambda rival: (
                -min(plain[a][b]["weight"] for a, b in pairwise(rival)),
                rival,
            ),
        )
        assert answer.path == best
        assert [edge.co_occur for edge in answer.edges] == [plain[a][b]["weight"] for a, b in pairwise(best)]
    elif not answer.truncated:
        assert shortest is None
