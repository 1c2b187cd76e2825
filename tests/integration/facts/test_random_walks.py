"""Walks over random graphs, compared with the page's rule in plain Python."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loom_core.clock import instant
from loom_core.facts.models import FactsTraverseRequest
from loom_core.facts.service import FactsService
from loom_core.storage.store import Store
from tests.support import walking
from tests.support.graph_rows import START, GraphRows, Observation

NAMES = [f"node {letter}" for letter in "abcdefgh"]
INSTANTS = [START + n for n in (0, 10, 20, 30)]


@st.composite
def observations(draw: st.DrawFn) -> list[Observation]:
    """Up to 40 pairs and triples over eight names, dated within 30 µs."""
    found = []
    for number in range(draw(st.integers(1, 40))):
        a, b = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True))
        start = draw(st.sampled_from(INSTANTS))
        end, closed = (draw(st.none() | st.integers(start, START + 40)) for _ in range(2))
        relation = draw(st.sampled_from(["", "", "know", "own"]))
        if not relation:
            a, b = sorted((a, b))
        found.append(
            Observation(
                a,
                b,
                relation,
                memory_id=f"id-{number}",
                memory_key=f"k{number % 7}",
                valid_from=start,
                valid_to=end,
                invalid_at=closed,
                arrival=START + number,
            )
        )
    return found


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    observed=observations(),
    seed=st.sampled_from(NAMES),
    at=st.integers(START, START + 40),
    max_hops=st.integers(1, 4),
    top_k=st.integers(1, 5),
    max_nodes=st.integers(1, 8),
    rank_by=st.sampled_from(["co_occur", "specificity", "cosine"]),
    hub_degree=st.sampled_from([0, 3, 6]),
    hub_share=st.sampled_from([0.0, 0.2, 0.5]),
    min_co_occur=st.integers(1, 2),
    relations=st.sampled_from([None, (), ("know",)]),
)
def test_every_walk_is_the_one_that_plain_python_walks(
    store: Store,
    facts: FactsService,
    observed: list[Observation],
    seed: str,
    at: int,
    relations: tuple[str, ...] | None,
    **rules: object,
) -> None:
    graph = GraphRows(store)
    graph.observations = observed
    graph.land()
    request = FactsTraverseRequest(
        org=graph.scope.org,
        namespace=graph.scope.namespace,
        seed_entity=seed,
        as_of=instant(at),
        labeled=relations is not None,
        relations=list(relations or ()),
        top_k_per_hop=rules["top_k"],
        **{name: value for name, value in rules.items() if name != "top_k"},
    )
    answer = facts.traverse(graph.context, request)
    degrees = graph.degrees() if relations is None else walking.typed_degrees(observed, at)
    expected, truncated = walking.walk(walking.weights(observed, at, relations), degrees, seed, **rules)
    got = [
        walking.Reached(n.entity, n.hop, n.cumulative_weight, n.via_co_occur, tuple(n.path), n.degree, n.hub)
        for n in answer.nodes
    ]
    assert (got, answer.truncated) == (expected, truncated)
    assert answer.hubs == [node.entity for node in expected if node.hub]
