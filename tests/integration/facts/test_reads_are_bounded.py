"""B84: "walk re-scans the whole graph". A hub of degree 50,000 beside the seed, 20,000 entities, 100,000 edges."""

from __future__ import annotations

import re
from typing import Any

import pytest

from loom_core.facts.models import FactsPathRequest, FactsRelatedRequest, FactsTraverseRequest
from loom_core.facts.service import FactsService
from loom_core.settings import Settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import CallContext, Scope

SCOPE = Scope("org", "b84")
NAMES = {"org": SCOPE.org, "namespace": SCOPE.namespace}
ENTITIES, EDGES, HUB_DEGREE = 20_000, 100_000, 50_000

EDGES_SQL = f"""
INSERT INTO loom.entity_edges
    (org, namespace, entity_a, entity_b, memory_id, memory_key, span, value_sha256, valid_from, arrival, ver)
SELECT 'org', 'b84', least(x, y), greatest(x, y), toString(number), toString(number), 0, '', now64(6) - 10, now64(6), 1
FROM
(
    SELECT number, if(number < {HUB_DEGREE}, 'hub', concat('n', toString(cityHash64(number, 1) % {ENTITIES}))) AS x,
           if(number = 0, 'seed', concat('n', toString(cityHash64(number, 2) % {ENTITIES}))) AS y
    FROM numbers({EDGES})
    UNION ALL
    SELECT {EDGES} + number, 'seed', concat('n', toString(number * 7)) FROM numbers(30)
)
WHERE x != y
"""
DEGREES_SQL = """
INSERT INTO loom.entity_degree (org, namespace, generation, entity, degree)
SELECT org, namespace, 0, entity, count() FROM loom.entity_adjacency FINAL
WHERE org = 'org' AND namespace = 'b84' GROUP BY org, namespace, entity
"""


class Spy(Store):
    """Counts statements and the rows they return."""

    def __init__(self, store: Store) -> None:
        self._inner = store
        self.returned: list[tuple[str, int]] = []

    def rows(self, sql: str, **parameters: Any) -> list[tuple[Any, ...]]:
        rows = self._inner.rows(sql, **parameters)
        self.returned.append((sql, len(rows)))
        return rows

    def insert(self, *args: Any, **kwargs: Any) -> None:
        self._inner.insert(*args, **kwargs)


@pytest.fixture(scope="module")
def graph(store: Store) -> Store:
    store.command(EDGES_SQL)
    store.command(DEGREES_SQL)
    return store


@pytest.mark.parametrize(("hops", "top_k"), [(2, 20), (4, 5), (4, 20)])
def test_b84_each_hop_is_one_query_that_returns_frontier_times_k(graph: Store, hops: int, top_k: int) -> None:
    spy = Spy(graph)
    request = FactsTraverseRequest(
        **NAMES, seed_entity="seed", max_hops=hops, top_k_per_hop=top_k, rank_by="co_occur"
    )
    answer = FactsService(spy, Settings()).traverse(CallContext(SCOPE), request)
    hop_rows = [rows for statement, rows in spy.returned if statement == sql("facts_walk.hop")]
    reached = [1] + [sum(1 for node in answer.nodes if node.hop == hop) for hop in range(1, hops + 1)]
    assert len(hop_rows) <= hops
    for hop, rows in enumerate(hop_rows):
        assert rows <= reached[hop] * top_k
        assert reached[hop + 1] <= top_k ** (hop + 1)
    assert len(spy.returned) <= hops + 3
    assert len(answer.nodes) <= 400
    assert answer.truncated is (hops == 4)


def test_b84_the_hub_is_reported_in_hubs_and_not_expanded(graph: Store) -> None:
    request = FactsTraverseRequest(**NAMES, seed_entity="seed", top_k_per_hop=100, rank_by="co_occur")
    answer = FactsService(graph, Settings()).traverse(CallContext(SCOPE), request)
    (hub,) = [node for node in answer.nodes if node.entity == "hub"]
    assert hub.hub and hub.degree > HUB_DEGREE - 10
    assert answer.hubs == ["hub"]
    assert not [node for node in answer.nodes if "hub" in node.path[:-1]]


def test_b84_a_path_of_four_hops_returns_frontier_times_k_a_query(graph: Store) -> None:
    spy = Spy(graph)
    request = FactsPathRequest(**NAMES, entity_a="seed", entity_b="n12345", max_hops=4)
    answer = FactsService(spy, Settings()).path(CallContext(SCOPE), request)
    assert answer.found
    hop_rows = [rows for statement, rows in spy.returned if statement == sql("facts_walk.neighbours")]
    assert len(hop_rows) <= 4
    assert max(hop_rows) <= 20**2 * 21


@pytest.mark.parametrize(
    ("statement", "parameters"),
    [
        ("facts_walk.hop", {"frontier": ["n5", "n6"], "visited": ["n5"], "top_k": 20, "rank_by": "cosine", "min_co_occur": 1}),
        ("facts_walk.neighbours", {"frontier": ["n5", "n6"], "visited": [], "top_k": 20, "min_co_occur": 1}),
        ("facts_walk.edges", {"pairs": [("seed", "n7"), ("seed", "n14")]}),
        ("facts.related", {"entity": "n5", "limit": 20}),
    ],
)  # fmt: skip
def test_b84_each_statement_reads_a_range_of_the_primary_key(
    graph: Store, statement: str, parameters: dict[str, object]
) -> None:
    plan = "\n".join(
        line
        for (line,) in graph.rows(f"EXPLAIN indexes = 1 {sql(statement)}", **NAMES, at=2**50, **parameters)
    )
    adjacency = plan[plan.index("loom.entity_adjacency") :]
    assert re.search(r"PrimaryKey[\s\S]*?entity", adjacency)
    read, total = map(int, re.search(r"Granules: (\d+)/(\d+)", adjacency).groups())
    assert total > 300
    assert read < total / 20


def test_b84_related_of_the_hub_returns_no_more_than_top_k(graph: Store) -> None:
    spy = Spy(graph)
    answer = FactsService(spy, Settings()).related(
        CallContext(SCOPE), FactsRelatedRequest(**NAMES, entity="hub")
    )
    assert len(answer.related) == 20
    assert max(rows for _, rows in spy.returned) == 20
