from __future__ import annotations

from datetime import timedelta

import pytest

from loom_core.facts.models import FactsTraverseRequest, FactsTraverseResponse
from loom_core.facts.service import FactsService
from loom_core.settings import Settings
from loom_core.storage.store import Store
from tests.support.graph_rows import GraphRows, day


def walk(facts: FactsService, graph: GraphRows, seed: str, **fields: object) -> FactsTraverseResponse:
    request = FactsTraverseRequest(
        org=graph.scope.org, namespace=graph.scope.namespace, seed_entity=seed, **fields
    )
    return facts.traverse(graph.context, request)


def names(answer: FactsTraverseResponse) -> list[str]:
    return [node.entity for node in answer.nodes]


def test_b85_a_node_reached_twice_is_reported_once_through_its_strongest_parent(
    facts: FactsService, graph: GraphRows
) -> None:
    for pair in (
        ["alpha", "beta"],
        ["alpha", "gamma"],
        ["beta", "delta"],
        ["gamma", "delta"],
        ["gamma", "delta"],
    ):
        graph.row(f"k{len(graph.observations)}", pair)
    graph.land()
    answer = walk(facts, graph, "alpha", rank_by="co_occur")
    (delta,) = [node for node in answer.nodes if node.entity == "delta"]
    assert (delta.hop, delta.path, delta.via_co_occur) == (2, ["alpha", "gamma", "delta"], 2)
    assert delta.cumulative_weight == 3
    assert len(names(answer)) == len(set(names(answer))) == 3


def test_nodes_come_by_hop_then_heaviest_then_name(facts: FactsService, graph: GraphRows) -> None:
    for number, pair in enumerate(
        [("seed", "bbb"), ("seed", "aaa"), ("seed", "ccc"), ("seed", "ccc"), ("aaa", "far"), ("aaa", "far")]
    ):
        graph.row(f"k{number}", pair)
    graph.land()
    assert names(walk(facts, graph, "seed")) == ["ccc", "aaa", "bbb", "far"]


def test_the_walk_follows_the_seeds_canonical_form(facts: FactsService, graph: GraphRows) -> None:
    graph.row("k1", ["billing service", "ledger database"])
    graph.land()
    answer = walk(facts, graph, "The Billing Service's")
    assert (answer.seed, names(answer)) == ("billing service", ["ledger database"])


@pytest.mark.parametrize("seed", ["they", "x" * 257, "  "])
def test_a_seed_without_a_canonical_form_gives_an_empty_walk(
    facts: FactsService, graph: GraphRows, seed: str
) -> None:
    answer = walk(facts, graph, seed)
    assert (answer.seed, answer.nodes, answer.truncated, answer.hubs) == ("", [], False, [])


def test_b02_names_in_other_scripts_stay_apart(facts: FactsService, graph: GraphRows) -> None:
    graph.row("k1", ["北京 release plan", "alpha service"])
    graph.row("k2", ["東京 release plan", "beta service"])
    graph.land()
    assert names(walk(facts, graph, "北京 release plan", max_hops=4)) == ["alpha service"]


@pytest.fixture
def hub_beside_seed(graph: GraphRows) -> GraphRows:
    """`user` is in a hundred memories, in one of them with the seed."""
    graph.row("k-seed", ["seed", "user", "friend"])
    for number in range(100):
        graph.row(f"k{number}", ["user", f"topic {number}"])
    graph.row("k-far", ["friend", "far away"])
    graph.land()
    return graph


def test_a_hub_is_reported_but_not_expanded(facts: FactsService, hub_beside_seed: GraphRows) -> None:
    answer = walk(facts, hub_beside_seed, "seed", hub_share=0.01)
    assert names(answer) == ["friend", "user", "far away"]
    assert [(node.entity, node.hub) for node in answer.nodes] == [
        ("friend", False),
        ("user", True),
        ("far away", False),
    ]
    assert answer.hubs == ["user"]


@pytest.mark.parametrize(
    ("policy", "hubs"),
    [
        ({"hub_share": 0}, []),
        ({"hub_share": 0, "hub_degree": 102}, ["user"]),
        ({"hub_share": 0, "hub_degree": 103}, []),
        ({"hub_share": 1 / 102}, ["user"]),
        ({"hub_share": 0.0098}, []),
        ({"hub_share": None}, ["user"]),
    ],
)
def test_a_hub_is_a_node_of_the_degree_given_or_whose_edge_is_at_most_that_share(
    facts: FactsService, hub_beside_seed: GraphRows, policy: dict[str, float | None], hubs: list[str]
) -> None:
    assert hub_beside_seed.degrees()["user"] == 102
    assert walk(facts, hub_beside_seed, "seed", max_hops=1, **policy).hubs == hubs


def test_the_seed_expands_even_if_it_is_a_hub(facts: FactsService, hub_beside_seed: GraphRows) -> None:
    answer = walk(facts, hub_beside_seed, "user", max_hops=1, top_k_per_hop=100, hub_degree=2)
    assert len(answer.nodes) == 100


def test_the_settings_decide_what_the_call_leaves_open(store: Store, hub_beside_seed: GraphRows) -> None:
    off = FactsService(store, Settings(facts_traverse_hub_share=0, facts_traverse_rank_by="co_occur"))
    assert walk(off, hub_beside_seed, "seed", max_hops=1).hubs == []


@pytest.mark.parametrize(
    ("rank_by", "kept"),
    [("co_occur", "common"), ("specificity", "rare"), ("cosine", "middling")],
)
def test_the_trim_prefers_what_rank_by_says(
    facts: FactsService, graph: GraphRows, rank_by: str, kept: str
) -> None:
    """common: 5 of 40; middling: 3 of 4; rare: 1 of 1, squared and over the degree .625, 2.25 and 1."""
    for name, shared, elsewhere in (("common", 5, 35), ("middling", 3, 1), ("rare", 1, 0)):
        for number in range(shared):
            graph.row(f"{name}-{number}", ["seed", name])
        for number in range(elsewhere):
            graph.row(f"{name}-other-{number}", [name, f"other {name} {number}"])
    graph.land()
    assert names(walk(facts, graph, "seed", max_hops=1, top_k_per_hop=1, rank_by=rank_by)) == [kept]


@pytest.mark.parametrize(
    ("max_nodes", "kept", "truncated"), [(2, 2, True), (3, 3, True), (4, 4, False), (5, 4, False)]
)
def test_truncated_means_that_max_nodes_cut_something(
    facts: FactsService, graph: GraphRows, max_nodes: int, kept: int, truncated: bool
) -> None:
    for number, pair in enumerate([("seed", "aaa"), ("seed", "bbb"), ("seed", "ccc"), ("ccc", "ddd")]):
        graph.row(f"k{number}", pair)
    graph.land()
    answer = walk(facts, graph, "seed", max_nodes=max_nodes)
    assert (len(answer.nodes), answer.truncated) == (kept, truncated)


def test_trimming_and_the_last_hop_do_not_make_a_walk_truncated(
    facts: FactsService, graph: GraphRows
) -> None:
    for number, pair in enumerate([("seed", "aaa"), ("seed", "bbb"), ("aaa", "ccc")]):
        graph.row(f"k{number}", pair)
    graph.land()
    answer = walk(facts, graph, "seed", max_hops=1, top_k_per_hop=1)
    assert (len(answer.nodes), answer.truncated) == (1, False)


def test_b41_a_labelled_walk_keeps_the_direction_of_each_edge(facts: FactsService, graph: GraphRows) -> None:
    graph.row("k1", triples=[("anna", "report_to", "boris")], provenance="inferred")
    graph.row("k2", ["anna", "boris"])
    graph.row("k3", ["boris", "anna"])
    graph.land()
    (inbound,) = walk(facts, graph, "boris", labeled=True).nodes
    assert (inbound.entity, inbound.via_relation, inbound.via_direction) == ("anna", "report_to", "in")
    assert inbound.via_provenance == "inferred"
    (outbound,) = walk(facts, graph, "anna", labeled=True).nodes
    assert (outbound.entity, outbound.via_direction) == ("boris", "out")
    (plain,) = walk(facts, graph, "anna").nodes
    assert (plain.via_co_occur, plain.via_relation, plain.degree) == (2, None, 2)


def test_via_relation_is_the_most_observed_then_the_first_by_name(
    facts: FactsService, graph: GraphRows
) -> None:
    graph.row(
        "k1", triples=[("anna", "know", "boris"), ("anna", "advise", "boris"), ("boris", "know", "anna")]
    )
    graph.row("k2", triples=[("carla", "know", "anna"), ("anna", "advise", "carla")])
    graph.land()
    boris, carla = walk(facts, graph, "anna", labeled=True, max_hops=1).nodes
    assert (boris.entity, boris.via_co_occur, boris.via_relation, boris.via_direction) == (
        "boris",
        3,
        "know",
        "out",
    )
    assert (carla.entity, carla.via_co_occur, carla.via_relation, carla.via_direction) == (
        "carla",
        2,
        "advise",
        "out",
    )


@pytest.mark.parametrize(
    ("fields", "reached"),
    [
        ({"labeled": True}, ["boris", "carla"]),
        ({"relations": ["Knows"]}, ["carla"]),
        ({"relations": ["know", "report_to"], "labeled": False}, ["boris", "carla"]),
        ({"relations": ["!?"]}, []),
        ({"relations": ["own"]}, []),
    ],
)
def test_relations_imply_a_labelled_walk_over_those_verbs(
    facts: FactsService, graph: GraphRows, fields: dict[str, object], reached: list[str]
) -> None:
    graph.row("k1", ["anna", "dora"], [("anna", "report_to", "boris"), ("anna", "know", "carla")])
    graph.land()
    assert names(walk(facts, graph, "anna", max_hops=1, **fields)) == reached


def test_a_labelled_walks_degree_counts_what_holds_at_its_instant(
    facts: FactsService, graph: GraphRows
) -> None:
    graph.row("k1", triples=[("anna", "know", "boris")], start=day(1))
    graph.row("k2", triples=[("boris", "know", "carla")], start=day(1), closed=day(3))
    graph.row("k3", triples=[("boris", "know", "dora")], start=day(5))
    graph.land()
    for as_of, degree in ((day(2), 2), (day(4), 1), (day(6), 2)):
        (boris, *_) = walk(facts, graph, "anna", labeled=True, as_of=as_of).nodes
        assert boris.degree == degree


def test_b27_a_read_without_an_instant_returns_what_is_open(facts: FactsService, graph: GraphRows) -> None:
    for month in range(1, 11):
        closed = day(month + 1) if month < 10 else None
        graph.row(
            f"k{month}", triples=[("user", "work_at", f"company {month}")], start=day(month), closed=closed
        )
    graph.land()
    assert names(walk(facts, graph, "user", labeled=True)) == ["company 10"]
    assert names(walk(facts, graph, "user", labeled=True, as_of=day(4, 15))) == ["company 4"]


@pytest.mark.parametrize("ending", ["end", "closed"])
def test_an_edge_holds_from_its_start_to_just_before_its_end(
    facts: FactsService, graph: GraphRows, ending: str
) -> None:
    graph.row("k1", ["anna", "boris"], [("anna", "know", "boris")], start=day(3), **{ending: day(5)})
    graph.land()
    tick = timedelta(microseconds=1)
    for labeled in (False, True):
        for as_of, count in ((day(3) - tick, 0), (day(3), 1), (day(5) - tick, 1), (day(5), 0)):
            answer = walk(facts, graph, "anna", as_of=as_of, labeled=labeled)
            assert len(answer.nodes) == count
            for node in answer.nodes:
                assert (node.valid_from, node.valid_to) == (day(3), day(5) if ending == "end" else None)


def test_communities_come_from_the_pass_that_readers_see(
    facts: FactsService, graph: GraphRows, store: Store
) -> None:
    graph.row("k1", ["anna", "boris"])
    graph.land()
    assert walk(facts, graph, "anna").seed_community_id is None
    scope = [graph.scope.org, graph.scope.namespace]
    columns = ("org", "namespace", "pass_id", "level", "entity", "community_id", "stable_key", "weight")
    store.insert(
        "entity_communities",
        columns,
        [
            [*scope, "seen", 0, "anna", 3, 1, 1],
            [*scope, "seen", 1, "anna", 9, 1, 1],
            [*scope, "unseen", 0, "boris", 8, 1, 1],
        ],
    )
    store.insert("community_passes", ("org", "namespace", "pass_id", "ver"), [[*scope, "seen", 1]])
    answer = walk(facts, graph, "anna")
    assert answer.seed_community_id == 3
    assert [node.community_id for node in answer.nodes] == [None]


def test_the_degree_is_that_of_the_current_generation(
    facts: FactsService, graph: GraphRows, store: Store
) -> None:
    graph.row("k1", ["anna", "boris"])
    graph.land()
    scope = [graph.scope.org, graph.scope.namespace]
    store.insert(
        "entity_degree",
        ("org", "namespace", "generation", "entity", "degree"),
        [[*scope, 2, "boris", 7], [*scope, 3, "boris", 9]],
    )
    store.insert(
        "degree_generations",
        ("org", "namespace", "generation", "state"),
        [[*scope, 2, "current"], [*scope, 3, "opening"]],
    )
    (boris,) = walk(facts, graph, "anna").nodes
    assert boris.degree == 7


def test_a_walk_is_noted_once_a_day(store: Store, graph: GraphRows) -> None:
    service = FactsService(store, Settings())
    graph.row("k1", ["anna", "boris"])
    graph.land()
    for _ in range(3):
        walk(service, graph, "anna")
    noted = store.rows(
        "SELECT count() FROM loom.namespace_walks WHERE org = {org:String} AND namespace = {namespace:String}",
        org=graph.scope.org,
        namespace=graph.scope.namespace,
    )
    assert noted == [(1,)]


def test_two_tenants_never_meet(facts: FactsService, store: Store) -> None:
    one, two = GraphRows(store), GraphRows(store)
    one.row("k1", ["anna", "boris"], [("anna", "know", "boris")])
    two.row("k1", ["anna", "zoe"], [("anna", "know", "zoe")])
    one.land()
    two.land()
    for labeled in (False, True):
        assert names(walk(facts, one, "anna", labeled=labeled, max_hops=4)) == ["boris"]
        assert names(walk(facts, two, "anna", labeled=labeled, max_hops=4)) == ["zoe"]
