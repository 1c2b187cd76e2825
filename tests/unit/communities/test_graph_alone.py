"""D30: a partition is a function of the graph alone."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loom_core.communities import EdgeBatch, build_graph, detect, hash_names, partition
from tests.support.planted_graphs import Edges, clique, columns, topic_graph

NAMES = [f"n{k}" for k in range(12)]
edges_of_a_small_graph = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(0, 4)), max_size=60
)
without_deadline = settings(deadline=None)  # the first example compiles


def rewritten(edges: Edges, rng: random.Random) -> Edges:
    """The same graph: rows in another order, ends swapped, weights split over several rows."""
    rows = []
    for a, b, weight in edges:
        part = rng.randint(0, weight)
        rows += [(a, b, part), (b, a, weight - part)] if rng.random() < 0.5 else [(b, a, weight)]
    rng.shuffle(rows)
    return rows


def outcome(edges: Edges, **options: float) -> tuple:
    found = detect(*columns(edges), **options)
    return found.labels, found.dropped, found.giant_share, found.hub_drop_fraction, found.capped


@without_deadline
@given(edges_of_a_small_graph, st.randoms(use_true_random=False))
def test_the_order_the_ends_and_the_splitting_of_rows_change_nothing(
    edges: Edges, rng: random.Random
) -> None:
    assert outcome(rewritten(edges, rng)) == outcome(edges)


@without_deadline
@given(edges_of_a_small_graph)
def test_every_entity_with_an_edge_has_a_community_or_was_dropped(edges: Edges) -> None:
    labels, dropped, share, _, _ = outcome(edges)
    with_an_edge = {name for a, b, weight in edges if a != b and weight for name in (a, b)}
    assert set(labels) | set(dropped) == with_an_edge
    assert not set(labels) & set(dropped)
    sizes = [list(labels.values()).count(k) for k in range(len(set(labels.values())))]
    assert sizes == sorted(sizes, reverse=True) and all(sizes)
    assert share == (sizes[0] / len(with_an_edge) if sizes else 0)


@pytest.mark.parametrize("seed", range(3))
def test_a_large_graph_does_not_show_the_order_of_its_rows(seed: int) -> None:
    """A row order that is not sorted away shows at ten thousand entities and more only."""
    graph = topic_graph(20_000, topics=450, memories=30_000, noise=0.3, hubs=0.001)
    rng = np.random.default_rng(seed)
    order, swap = rng.permutation(len(graph.sources)), rng.random(len(graph.sources)) < 0.5
    a, b = np.where(swap, graph.targets, graph.sources), np.where(swap, graph.sources, graph.targets)
    shuffled = detect(a[order], b[order], graph.weights[order])
    assert shuffled.labels == detect(*graph[:3]).labels


@without_deadline
@given(edges_of_a_small_graph, st.lists(st.integers(0, 60), max_size=4))
def test_how_rows_are_batched_changes_nothing(edges: Edges, cuts: list[int]) -> None:
    a, b, weights = columns(edges)
    whole = EdgeBatch(hash_names(a), hash_names(b), np.array(weights, np.int64))
    parts = [
        EdgeBatch(*columns)
        for columns in zip(*(np.split(column, sorted(c % (len(a) + 1) for c in cuts)) for column in whole), strict=True)
    ]  # fmt: skip
    one, other = build_graph([whole]), build_graph(parts)
    for field in ("hashes", "offsets", "neighbours", "weights", "degrees"):
        assert np.array_equal(getattr(one, field), getattr(other, field))


def test_names_and_the_hashes_of_names_give_the_same_partition() -> None:
    edges = clique("abcde", 2) + clique("vwxyz", 2) + [("a", "v", 1)]
    a, b, weights = columns(edges)
    by_name = detect(a, b, weights).labels
    by_hash = partition(build_graph([EdgeBatch(hash_names(a), hash_names(b), np.array(weights))]))
    ids = dict(zip(by_hash.hashes.tolist(), by_hash.levels[0].labels.tolist(), strict=True))
    assert {name: ids[int(hash_names([name])[0])] for name in by_name} == by_name


def test_other_names_give_communities_as_good() -> None:
    graph = topic_graph(5_000, topics=110, memories=10_000)
    for shift in (0, 10**6, 10**12):
        labels = detect(graph.sources + shift, graph.targets + shift, graph.weights).labels
        assert len(set(labels.values())) == pytest.approx(110, abs=5)
