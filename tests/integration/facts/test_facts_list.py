from __future__ import annotations

from datetime import timedelta

import pytest

from loom_core.facts.models import FactRow, FactsListRequest
from loom_core.facts.service import FactsService
from loom_core.storage.store import Store
from tests.support.graph_rows import GraphRows, day


def listed(facts: FactsService, graph: GraphRows, **fields: object) -> list[FactRow]:
    return facts.list(graph.context, request(graph, **fields)).rows


def request(graph: GraphRows, **fields: object) -> FactsListRequest:
    return FactsListRequest(org=graph.scope.org, namespace=graph.scope.namespace, **fields)


def triples(rows: list[FactRow]) -> list[tuple[str, str, str]]:
    return [(row.subject, row.relation, row.object) for row in rows]


ANNA = ("anna", "report_to", "boris")
BORIS = ("boris", "report_to", "carla")
LEDGER = ("billing service", "depend_on", "ledger database")


@pytest.fixture
def org_chart(graph: GraphRows) -> GraphRows:
    graph.row("k1", triples=[ANNA, LEDGER])
    graph.row("k2", triples=[ANNA])
    graph.row("k3", triples=[BORIS])
    graph.land()
    return graph


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, [ANNA, BORIS, LEDGER]),
        ({"subject": "Anna"}, [ANNA]),
        ({"object": "boris"}, [ANNA]),
        ({"entity": "boris"}, [ANNA, BORIS]),
        ({"entity": "boris", "object": "nobody named"}, [ANNA, BORIS]),
        ({"entity": "boris", "subject": "boris"}, [BORIS]),
        ({"subject": "anna", "object": "carla"}, []),
        ({"relation": "report_to"}, [ANNA, BORIS]),
        ({"relation": "report_to", "object": "carla"}, [BORIS]),
        ({"subject": "The Billing Services"}, [LEDGER]),
        ({"subject": "they"}, []),
        ({"entity": "x" * 257}, []),
        ({"relation": "!?"}, []),
    ],
)
def test_filters_are_read_as_writes_store_them_and_apply_together(
    facts: FactsService, org_chart: GraphRows, filters: dict[str, str], expected: list[tuple[str, str, str]]
) -> None:
    assert triples(listed(facts, org_chart, **filters)) == expected


def test_a_name_stored_in_its_lowered_form_is_found_as_given(facts: FactsService, graph: GraphRows) -> None:
    graph.row("k1", triples=[("the billing services", "depend_on", "redis")])
    graph.land()
    assert triples(listed(facts, graph, subject="The Billing Services")) == [
        ("the billing services", "depend_on", "redis")
    ]


def test_the_most_observed_come_first_and_recency_puts_the_last_seen_first(
    facts: FactsService, org_chart: GraphRows
) -> None:
    assert triples(listed(facts, org_chart, sort_by="co_occur"))[0] == ANNA
    assert triples(listed(facts, org_chart, sort_by="recency")) == [BORIS, ANNA, LEDGER]


def test_a_list_that_was_cut_says_so(facts: FactsService, org_chart: GraphRows) -> None:
    whole = facts.list(org_chart.context, request(org_chart, limit=3))
    cut = facts.list(org_chart.context, request(org_chart, limit=2))
    assert (len(whole.rows), whole.truncated) == (3, False)
    assert (triples(cut.rows), cut.truncated) == ([ANNA, BORIS], True)


def test_the_same_name_at_both_ends_counts_once(facts: FactsService, graph: GraphRows) -> None:
    graph.row("k1", triples=[("loop", "call", "loop")])
    graph.land()
    for end in ("subject", "object", "entity"):
        (row,) = listed(facts, graph, **{end: "loop"})
        assert row.co_occur == 1


def test_observations_fold_into_one_row(facts: FactsService, graph: GraphRows) -> None:
    graph.row("k1", triples=[ANNA], confidence=0.4, adapter_name="m1", provenance="inferred", start=day(2))
    graph.row("k2", triples=[ANNA], confidence=0.9, adapter_name="m2", provenance="extracted", start=day(3))
    graph.row("k3", triples=[ANNA], confidence=0.9, adapter_name="m3", provenance="inferred", start=day(4))
    graph.land()
    (row,) = listed(facts, graph, as_of=day(6))
    assert (row.co_occur, row.confidence, row.adapter_name, row.provenance) == (3, 0.9, "m3", "inferred")
    assert (row.valid_from, row.valid_to, row.invalid_at) == (day(2), None, None)
    assert row.first_seen + timedelta(microseconds=2) == row.last_seen


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ([(day(9), None), (None, None)], (None, None)),
        ([(day(9), None), (day(10), None)], (day(10), None)),
        ([(None, day(9)), (None, day(10))], (None, day(10))),
        ([(day(12), day(9)), (day(10), None)], (day(10), None)),
    ],
)
def test_the_end_is_that_of_the_observation_that_holds_longest(
    facts: FactsService, graph: GraphRows, ends: list[tuple], expected: tuple
) -> None:
    for number, (end, closed) in enumerate(ends):
        graph.row(f"k{number}", triples=[ANNA], start=day(2), end=end, closed=closed)
    graph.land()
    (row,) = listed(facts, graph, as_of=day(6))
    assert (row.valid_to, row.invalid_at) == expected


@pytest.mark.parametrize(
    ("as_of", "expected"),
    [
        (day(3) - timedelta(microseconds=1), 0),
        (day(3), 1),
        (day(5) - timedelta(microseconds=1), 1),
        (day(5), 0),
    ],
)
@pytest.mark.parametrize("ending", ["end", "closed"])
def test_a_triple_holds_from_its_start_to_just_before_its_end(
    facts: FactsService, graph: GraphRows, as_of: object, expected: int, ending: str
) -> None:
    graph.row("k1", triples=[ANNA], start=day(3), **{ending: day(5)})
    graph.land()
    assert len(listed(facts, graph, as_of=as_of)) == expected


def test_a_closed_triple_shows_only_with_an_instant_inside_its_span(
    facts: FactsService, graph: GraphRows
) -> None:
    graph.row("k1", triples=[ANNA], start=day(3), closed=day(5))
    graph.land()
    assert listed(facts, graph) == []
    (row,) = listed(facts, graph, as_of=day(4))
    assert row.invalid_at == day(5)


@pytest.mark.parametrize(
    ("tiers", "expected"),
    [(None, 3), (["extracted"], 1), (["inferred", "facet"], 2), (["facet"], 1), ([], 3)],
)
def test_provenance_keeps_what_was_told_that_way(
    facts: FactsService, graph: GraphRows, tiers: list[str] | None, expected: int
) -> None:
    for number, tier in enumerate(("extracted", "inferred", "facet")):
        graph.row(f"k{number}", triples=[(f"subject {number}", "own", "kestrel")], provenance=tier)
    graph.land()
    assert len(listed(facts, graph, provenance=tiers)) == expected


def test_min_co_occur_leaves_out_what_was_seen_less(facts: FactsService, org_chart: GraphRows) -> None:
    assert triples(listed(facts, org_chart, min_co_occur=2)) == [ANNA]
    assert triples(listed(facts, org_chart, min_co_occur=2, entity="boris")) == [ANNA]


def test_sources_are_the_ten_latest_keys(facts: FactsService, graph: GraphRows) -> None:
    for number in range(12):
        graph.row(f"k{number:02}", triples=[ANNA])
    graph.land()
    (row,) = listed(facts, graph, include_sources=True)
    assert row.co_occur == 12
    assert row.sources == [f"k{number:02}" for number in range(11, 1, -1)]
    (plain,) = listed(facts, graph)
    assert plain.sources == []


def test_one_tenant_never_sees_anothers_triples(
    facts: FactsService, store: Store, org_chart: GraphRows
) -> None:
    other = GraphRows(store)
    other.row("k9", triples=[("anna", "report_to", "dora")])
    other.land()
    assert triples(listed(facts, other, subject="anna")) == [("anna", "report_to", "dora")]
    assert triples(listed(facts, org_chart, subject="anna")) == [ANNA]


@pytest.mark.parametrize(
    "name", ["o'brien", 'back\\slash"quote', "北京 release plan", "x'); drop table t --", "{at:int64}"]
)
def test_a_hostile_name_is_only_a_name(facts: FactsService, graph: GraphRows, name: str) -> None:
    graph.row("k1", triples=[(name, "own", "kestrel")])
    graph.land()
    assert triples(listed(facts, graph, subject=name, include_sources=True)) == [(name, "own", "kestrel")]
    assert triples(listed(facts, graph, entity=name)) == [(name, "own", "kestrel")]
