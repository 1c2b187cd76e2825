from __future__ import annotations

import pytest

from loom_core.facts.models import FactsRelatedRequest, FactsRelatedResponse
from loom_core.facts.service import FactsService
from loom_core.storage.store import Store
from tests.support.graph_rows import GraphRows, day


def related(facts: FactsService, graph: GraphRows, entity: str, **fields: object) -> FactsRelatedResponse:
    request = FactsRelatedRequest(
        org=graph.scope.org, namespace=graph.scope.namespace, entity=entity, **fields
    )
    return facts.related(graph.context, request)


def counts(answer: FactsRelatedResponse) -> list[tuple[str, int]]:
    return [(row.entity, row.co_occur) for row in answer.related]


def test_b01_one_acronym_is_one_node_however_often_it_is_set(facts: FactsService, graph: GraphRows) -> None:
    for number in range(1, 6):
        graph.row(f"k{number}", ["QZRT", "ledger database"])
    graph.land()
    answer = related(facts, graph, "qzrt")
    assert (answer.entity, counts(answer)) == ("qzrt", [("ledger database", 5)])


def test_distinct_source_keys_are_counted_over_both_edge_sets(facts: FactsService, graph: GraphRows) -> None:
    graph.row("k1", ["anna", "boris"], [("anna", "know", "boris"), ("boris", "know", "anna")])
    graph.row("k2", ["anna", "boris"])
    graph.row("k3", triples=[("anna", "manage", "boris")])
    graph.land()
    (boris,) = related(facts, graph, "anna").related
    assert (boris.co_occur, boris.seed_side, boris.relations) == (3, "both", ["know", "manage"])


@pytest.mark.parametrize(("seed", "side"), [("anna", "subject"), ("boris", "object"), ("carla", "none")])
def test_b41_the_seeds_side_is_the_same_from_either_end(
    facts: FactsService, graph: GraphRows, seed: str, side: str
) -> None:
    graph.row("k1", triples=[("anna", "report_to", "boris")])
    graph.row("k2", ["carla", "dora"])
    graph.land()
    (row,) = related(facts, graph, seed).related
    assert row.seed_side == side


def test_b27_closed_values_are_left_out(facts: FactsService, graph: GraphRows) -> None:
    for month in range(1, 11):
        closed = day(month + 1) if month < 10 else None
        graph.row(
            f"k{month}", triples=[("user", "work_at", f"company {month}")], start=day(month), closed=closed
        )
    graph.land()
    assert counts(related(facts, graph, "user")) == [("company 10", 1)]
    assert counts(related(facts, graph, "user", as_of=day(3, 2))) == [("company 3", 1)]


def test_strongest_first_then_by_name_and_no_more_than_top_k(facts: FactsService, graph: GraphRows) -> None:
    for number, other in enumerate(["ccc", "bbb", "aaa", "ccc"]):
        graph.row(f"k{number}", ["seed", other])
    graph.land()
    assert counts(related(facts, graph, "seed")) == [("ccc", 2), ("aaa", 1), ("bbb", 1)]
    assert counts(related(facts, graph, "seed", top_k=2)) == [("ccc", 2), ("aaa", 1)]


def test_an_entity_is_not_its_own_neighbour(facts: FactsService, graph: GraphRows) -> None:
    graph.row("k1", triples=[("loop", "call", "loop")])
    graph.land()
    assert related(facts, graph, "loop").related == []


def test_an_entity_without_a_canonical_form_gives_an_empty_answer(
    facts: FactsService, graph: GraphRows
) -> None:
    answer = related(facts, graph, "them")
    assert (answer.entity, answer.related) == ("", [])


def alias(store: Store, graph: GraphRows, name: str, entity: str, at: int) -> None:
    columns = ("org", "namespace", "alias", "entity", "event_id", "at")
    store.insert(
        "entity_aliases", columns, [[graph.scope.org, graph.scope.namespace, name, entity, f"e{at}", at]]
    )


def test_reads_follow_aliases_to_the_end_of_the_chain(
    facts: FactsService, store: Store, graph: GraphRows
) -> None:
    graph.row("k1", ["billing service", "ledger database"])
    graph.land()
    alias(store, graph, "bill thing", "billing", 1)
    alias(store, graph, "billing", "billing service", 2)
    answer = related(facts, graph, "The Bill Things")
    assert (answer.entity, counts(answer)) == ("billing service", [("ledger database", 1)])


def test_the_latest_line_of_an_alias_counts(facts: FactsService, store: Store, graph: GraphRows) -> None:
    alias(store, graph, "billing", "billing service", 1)
    alias(store, graph, "billing", "invoicing", 2)
    assert related(facts, graph, "billing").entity == "invoicing"
    alias(store, graph, "billing", "", 3)
    assert related(facts, graph, "billing").entity == "billing"


def test_a_cycle_of_aliases_ends(facts: FactsService, store: Store, graph: GraphRows) -> None:
    alias(store, graph, "ping", "pong", 1)
    alias(store, graph, "pong", "ping", 2)
    assert related(facts, graph, "ping").entity == "pong"


def test_another_tenants_alias_leads_nowhere(facts: FactsService, store: Store, graph: GraphRows) -> None:
    alias(store, GraphRows(store), "billing", "invoicing", 1)
    assert related(facts, graph, "billing").entity == "billing"


def test_b25_a_past_read_returns_no_row_of_the_future(facts: FactsService, graph: GraphRows) -> None:
    for year, other in ((2024, "old friend"), (2025, "new friend")):
        start = day(1).replace(year=year)
        graph.row(f"k{year}", ["anna", other], [("anna", "know", other)], start=start)
    graph.land()
    as_of = day(6).replace(year=2024)
    assert counts(related(facts, graph, "anna", as_of=as_of)) == [("old friend", 1)]
