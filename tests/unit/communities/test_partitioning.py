"""Levels, ids, keys: what the worker stores."""

import networkx
import numpy as np
import pytest
from hypothesis import given, settings

from loom_core.communities import ArrayPartition, DropRule, Graph, detect_arrays, hash_names, partition
from loom_core.communities.connectivity import split_unconnected
from loom_core.communities.modularity import modularity
from loom_core.communities.names import Integers
from loom_core.communities.numbering import number_communities
from tests.support.planted_graphs import (
    PlantedGraph,
    clique,
    columns,
    normalised_mutual_information,
    topic_graph,
)
from tests.support.small_graphs import entities_of, graph_of, ids_of, labelled_graphs


def partition_of(planted: PlantedGraph, **options: object) -> ArrayPartition:
    a, b = Integers.hash(planted.sources), Integers.hash(planted.targets)
    return detect_arrays(a, b, planted.weights, **options)


def surviving(graph: Graph, labels: np.ndarray) -> networkx.Graph:
    found = networkx.Graph()
    found.add_nodes_from(np.flatnonzero(labels >= 0).tolist())
    for entity in range(graph.entities):
        for edge in range(graph.offsets[entity], graph.offsets[entity + 1]):
            neighbour = int(graph.neighbours[edge])
            if labels[entity] >= 0 and labels[neighbour] >= 0:
                found.add_edge(entity, neighbour, weight=int(graph.weights[edge]))
    return found


def communities(labels: np.ndarray) -> list[set[int]]:
    return [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels[labels >= 0])]


@settings(deadline=None)
@given(labelled_graphs)
def test_modularity_is_newman_and_girvans(case: tuple[Graph, np.ndarray]) -> None:
    graph, labels = case
    left = surviving(graph, labels)
    expected = networkx.community.modularity(left, communities(labels)) if left.size() else 0
    assert modularity(graph, labels) == pytest.approx(expected)


@settings(deadline=None)
@given(labelled_graphs)
def test_communities_that_are_not_connected_are_split(case: tuple[Graph, np.ndarray]) -> None:
    graph, labels = case
    left = surviving(graph, labels)
    expected = [
        part
        for members in communities(labels)
        for part in networkx.connected_components(left.subgraph(members))
    ]
    split_unconnected(graph, labels)
    assert sorted(map(sorted, communities(labels))) == sorted(map(sorted, expected))
    assert all(labels[label] == label for label in labels[labels >= 0])


def test_communities_are_numbered_by_size_and_keyed_by_their_strongest_entity() -> None:
    graph = graph_of([(0, 1, 1), (2, 3, 1), (3, 4, 1), (5, 6, 9), (6, 7, 9), (7, 8, 1), (8, 5, 1)])
    labels = np.empty(9, np.int32)
    for label, members in enumerate([[0, 1], [2, 3, 4], [5, 6, 7]]):
        labels[ids_of(graph, members)] = label
    labels[ids_of(graph, [8])] = -1
    level = number_communities(graph, labels)
    found = level.labels[ids_of(graph, list(range(9)))].tolist()
    assert level.sizes.tolist() == [3, 3, 2]
    assert found[8] == -1 and found[0] == found[1] == 2
    keys = entities_of(graph, np.searchsorted(graph.hashes, level.keys))
    assert keys[found[5]] == 6 and keys[found[2]] == 3 and keys[2] in (0, 1)
    assert (level.keys[0] < level.keys[1]) == (level.sizes[0] == level.sizes[1])


def test_the_level_above_finds_the_themes_that_topics_belong_to() -> None:
    planted = topic_graph(9_000, topics=200, memories=18_000, noise=0.1, topics_a_theme=10, hubs=0.001)
    found = partition_of(planted, levels=3)
    fine, coarse = found.levels[:2]
    ids = np.searchsorted(found.hashes, Integers.hash(np.arange(9_000)))
    assert normalised_mutual_information(coarse.labels[ids], planted.truth // 10) > 0.95
    assert coarse.communities == pytest.approx(20, abs=2)
    assert fine.communities == pytest.approx(200, abs=20)
    assert ((fine.labels >= 0) == (coarse.labels >= 0)).all()
    for members in communities(fine.labels):
        assert len(np.unique(coarse.labels[list(members)])) == 1
    assert set(coarse.keys.tolist()) <= set(fine.keys.tolist())
    assert len(found.dropped) == 9


def test_a_graph_without_a_coarser_structure_has_one_level() -> None:
    planted = topic_graph(5_000, topics=110, memories=10_000, noise=0.2)
    assert len(partition_of(planted, levels=4).levels) == 1


def test_communities_without_an_edge_between_them_have_one_level() -> None:
    a, b, weights = columns(clique("abc") + clique("xyz"))
    found = detect_arrays(hash_names(a), hash_names(b), np.array(weights))
    assert [level.sizes.tolist() for level in found.levels] == [[3, 3]]


def test_keys_survive_the_loss_of_one_edge_in_a_hundred() -> None:
    """Ids are ranks by size and shift; the key of an entity's community stays."""
    planted = topic_graph(20_000, topics=450, memories=40_000)
    strong = np.arange(450) * 20_000 // 450 + 1  # one entity of each topic is named beside all others
    mates = np.flatnonzero(~np.isin(np.arange(20_000), strong))
    whole = planted._replace(
        sources=np.r_[planted.sources, mates],
        targets=np.r_[planted.targets, strong[planted.truth[mates]]],
        weights=np.ones(len(planted.weights) + len(mates), np.int64),
    )
    kept = np.random.default_rng(1).random(len(whole.sources)) > 0.01
    fewer = PlantedGraph(*(column[kept] for column in whole[:3]), whole.truth)
    before, after = partition_of(whole, levels=1), partition_of(fewer, levels=1)
    both, at_before, at_after = np.intersect1d(before.hashes, after.hashes, return_indices=True)
    keys = [found.levels[0].keys[found.levels[0].labels] for found in (before, after)]
    assert (keys[0][at_before] == keys[1][at_after]).sum() / len(both) > 0.99


def test_progress_counts_up_to_its_total() -> None:
    told: list[tuple[str, int, int]] = []
    planted = topic_graph(2_000, topics=45, memories=4_000, hubs=0.002)
    partition_of(planted, progress=lambda *step: told.append(step))
    assert {stage for stage, _, _ in told} == {"hub drop", "levels"}
    for stage in ("hub drop", "levels"):
        steps = [(done, total) for name, done, total in told if name == stage]
        assert [done for done, _ in steps] == list(range(1, len(steps) + 1))
        assert all(done <= total for done, total in steps)


def test_an_empty_graph_has_no_levels() -> None:
    nobody = np.empty(0, np.uint64)
    found = detect_arrays(nobody, nobody, np.empty(0, np.int64))
    assert found.levels == () and len(found.hashes) == len(found.dropped) == 0
    assert (found.giant_share, found.hub_drop_fraction, found.capped) == (0, 0.001, False)


def test_no_level_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"^levels: 0 is below 1"):
        partition(graph_of([(0, 1, 1)]), DropRule(), levels=0)
