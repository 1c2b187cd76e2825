"""Label propagation, against what it promises."""

import numpy as np
import pytest
from hypothesis import given, settings

from loom_core.communities import Graph
from loom_core.communities.propagation import propagate
from tests.support.planted_graphs import lfr_graph
from tests.support.small_graphs import edge_lists, graph_of, labelled_graphs


def weights_by_label(graph: Graph, labels: np.ndarray, entity: int) -> dict[int, int]:
    found: dict[int, int] = {}
    for edge in range(graph.offsets[entity], graph.offsets[entity + 1]):
        label = int(labels[graph.neighbours[edge]])
        found[label] = found.get(label, 0) + int(graph.weights[edge])
    return found


def assert_settled(graph: Graph, labels: np.ndarray) -> None:
    """No entity has a label that weighs more among its neighbours than its own."""
    for entity in range(graph.entities):
        if labels[entity] >= 0:
            weight_of = weights_by_label(graph, labels, entity)
            weight_of.pop(-1, None)
            assert weight_of.get(int(labels[entity]), 0) == max(weight_of.values(), default=0)


@settings(deadline=None)
@given(edge_lists)
def test_it_ends_where_nobody_would_gain(edges: list[tuple[int, int, int]]) -> None:
    graph = graph_of(edges)
    labels = np.arange(graph.entities, dtype=np.int32)
    propagate(graph, labels, labels.copy())
    assert_settled(graph, labels)


@settings(deadline=None)
@given(labelled_graphs)
def test_from_any_labels_it_settles_and_leaves_the_others_out(case: tuple[Graph, np.ndarray]) -> None:
    graph, labels = case
    out = labels < 0
    propagate(graph, labels, np.flatnonzero(~out).astype(np.int32))
    assert_settled(graph, labels)
    assert np.array_equal(labels < 0, out)


def test_at_a_size_that_takes_many_rounds_it_settles_too() -> None:
    planted = lfr_graph(3000, degree=20, max_degree=50, smallest=10, largest=50)
    graph = graph_of(list(zip(*(column.tolist() for column in planted[:3]), strict=True)))
    labels = np.arange(graph.entities, dtype=np.int32)
    propagate(graph, labels, labels.copy())
    assert_settled(graph, labels)


def test_a_settled_graph_does_not_move() -> None:
    graph = graph_of([(0, 1, 1), (1, 2, 1), (2, 0, 1), (3, 4, 1), (2, 3, 1)])
    labels = np.arange(graph.entities, dtype=np.int32)
    assert propagate(graph, labels, labels.copy()) > 0
    assert propagate(graph, labels, np.arange(graph.entities, dtype=np.int32)) == 0


@pytest.mark.parametrize("length", [2, 3, 10, 1000])
def test_a_path_ends(length: int) -> None:
    graph = graph_of([(k, k + 1, 1) for k in range(length)])
    labels = np.arange(graph.entities, dtype=np.int32)
    propagate(graph, labels, labels.copy())
    assert_settled(graph, labels)
