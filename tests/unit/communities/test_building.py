"""Batches of edges to a graph."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings

from loom_core.communities import EdgeBatch, HashCollision, build_graph
from loom_core.communities.interning import Interner
from tests.support.small_graphs import edge_lists, graph_of, hash_of


@settings(deadline=None)
@given(edge_lists)
def test_the_rows_hold_every_pair_once_in_both_directions(edges: list[tuple[int, int, int]]) -> None:
    expected: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for a, b, weight in edges:
        if a != b and weight:
            expected[hash_of(a)][hash_of(b)] += weight
            expected[hash_of(b)][hash_of(a)] += weight
    graph = graph_of(edges)
    assert graph.hashes.tolist() == sorted(expected)
    for entity, name in enumerate(graph.hashes.tolist()):
        row = slice(*graph.offsets[entity : entity + 2])
        neighbours = graph.neighbours[row]
        assert (np.diff(neighbours) > 0).all()
        assert (
            dict(zip(graph.hashes[neighbours].tolist(), graph.weights[row].tolist(), strict=True))
            == expected[name]
        )
        assert graph.degrees[entity] == sum(expected[name].values())
    assert graph.edges == sum(map(len, expected.values())) // 2


def test_rows_longer_than_the_insertion_sort_takes_are_sorted_too() -> None:
    graph = graph_of([(0, k, k) for k in range(1000, 0, -1)] * 2)
    hub = int(np.flatnonzero(graph.hashes == hash_of(0))[0])
    row = slice(*graph.offsets[hub : hub + 2])
    assert (np.diff(graph.neighbours[row]) > 0).all()
    assert sorted(graph.weights[row].tolist()) == [2 * k for k in range(1, 1001)]


@pytest.mark.parametrize(
    ("weights", "width"),
    [
        ([1, 2**31 - 2], np.int32),
        ([1, 2**31 - 1], np.int64),
        ([2**31], np.int64),
        ([2**30] * 4, np.int64),
        ([1, 2**61, 2**61 - 1], np.int64),
    ],
)
def test_weights_are_as_wide_as_their_sum_needs(weights: list[int], width: type) -> None:
    graph = graph_of([(0, 1, weight) for weight in weights])
    assert graph.weights.dtype == width
    assert graph.weights.tolist() == [sum(weights)] * 2


def test_batches_of_narrow_and_of_wide_weights_make_one_graph() -> None:
    ends = np.array([1, 2], np.uint64), np.array([2, 3], np.uint64)
    graph = build_graph(EdgeBatch(*ends, np.array(w)) for w in ([1, 2], [2**40, 2**40], [3, 4]))
    assert graph.degrees.tolist() == [2**40 + 4, 2**41 + 10, 2**40 + 6]


def test_a_hash_may_be_any_64_bits() -> None:
    names = np.array([0, 1, 2**32, 2**63, 2**64 - 1], np.uint64)
    graph = build_graph([EdgeBatch(names[:-1], names[1:], np.ones(4, np.uint64))])
    assert graph.hashes.tolist() == names.tolist()


def test_a_table_that_grows_keeps_every_number() -> None:
    """High bits only: what a sequence of hashes with empty low bits looks like."""
    interner = Interner()
    hashes = np.arange(100_000, dtype=np.uint64) << np.uint64(40)
    for part in np.split(hashes, 7 * np.arange(1, 20)):
        interner.number(part)
    assert interner.number(hashes[::-1]).tolist() == list(range(99_999, -1, -1))
    assert np.array_equal(interner.hashes(), hashes)


def test_fewer_hashes_than_names_are_a_collision() -> None:
    batch = EdgeBatch(np.array([1, 2], np.uint64), np.array([2, 3], np.uint64), np.array([1, 1]))
    assert build_graph([batch], entities=3).entities == 3
    with pytest.raises(HashCollision, match="4 names have 3 different hashes"):
        build_graph([batch], entities=4)


GOOD = np.array([1, 2], np.uint64)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (EdgeBatch(GOOD.astype(np.int64), GOOD, np.array([1, 1])), "^a and b: .*int64"),
        (EdgeBatch(GOOD, GOOD[:1], np.array([1, 1])), "^a, b and weights differ in length: 2, 1 and 2"),
        (EdgeBatch(GOOD, GOOD, np.array([1.0, 1.0])), "^weights: .*float64"),
        (EdgeBatch(GOOD, GOOD[::-1], np.array([1, -2])), r"^weights: -2 is negative \(row 1\)"),
        (EdgeBatch(GOOD, GOOD[::-1], np.array([2**62, 1])), "^weights: "),
        (EdgeBatch(GOOD, GOOD[::-1], np.array([2**64 - 1, 1], np.uint64)), "^weights: "),
        (EdgeBatch(GOOD, GOOD.reshape(2, 1), np.array([1, 1])), "^b: "),
    ],
)
def test_a_bad_batch_is_refused_by_the_name_of_its_field(batch: EdgeBatch, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build_graph([batch])


def test_the_sum_over_batches_is_bounded_too() -> None:
    batch = EdgeBatch(GOOD, GOOD[::-1], np.array([2**61, 0]))
    assert build_graph([batch, batch]).degrees.tolist() == [2**62, 2**62]
    with pytest.raises(ValueError, match=r"^weights: they add up to more than 2"):
        build_graph([batch, batch, batch])
