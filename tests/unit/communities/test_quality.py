"""Known communities are found, with generic hubs in the graph as well as without."""

import networkit
import numpy as np
import pytest

from loom_core.communities import detect
from tests.support.planted_graphs import (
    PlantedGraph,
    agreement,
    lfr_graph,
    normalised_mutual_information,
    topic_graph,
)


def found_in(planted: PlantedGraph) -> float:
    return agreement(detect(*planted[:3]).labels, planted.truth)


def oracle(planted: PlantedGraph) -> np.ndarray:
    """What minimises the map equation, by NetworKit."""
    networkit.setNumberOfThreads(1)
    ends = (planted.sources.astype(np.uint64), planted.targets.astype(np.uint64))
    graph = networkit.GraphFromCoo(ends, n=len(planted.truth))
    finder = networkit.community.LouvainMapEquation(graph, True)
    finder.run()
    return np.array(finder.getPartition().getVector())


@pytest.mark.parametrize(
    ("degree", "smallest", "largest", "seed"),
    [(25, 20, 100, 1), (25, 20, 100, 2), (30, 20, 100, 3), (40, 40, 200, 4), (20, 10, 50, 5)],
)
def test_the_communities_of_an_lfr_graph_are_found(
    degree: int, smallest: int, largest: int, seed: int
) -> None:
    planted = lfr_graph(
        10_000, degree=degree, max_degree=2 * degree, smallest=smallest, largest=largest, seed=seed
    )
    assert found_in(planted) >= 0.99


def test_they_are_found_as_well_as_by_the_map_equation() -> None:
    planted = lfr_graph(10_000, degree=25, max_degree=50, smallest=20, largest=100, seed=6)
    assert found_in(planted) >= normalised_mutual_information(oracle(planted), planted.truth) - 0.01


@pytest.mark.parametrize("half_generic", [False, True])
@pytest.mark.parametrize(("memories_each", "noise"), [(1, 0.1), (2, 0.1), (2, 0.3)])
def test_generic_hubs_do_not_cost_the_topics(half_generic: bool, memories_each: int, noise: float) -> None:
    shape = {"topics": 220, "memories": 10_000 * memories_each, "noise": noise}
    without = found_in(topic_graph(10_000, **shape))
    with_hubs = found_in(topic_graph(10_000, **shape, hubs=0.001, half_generic=half_generic))
    assert with_hubs == pytest.approx(without, abs=0.01)


def test_generic_hubs_are_what_is_left_out() -> None:
    planted = topic_graph(10_000, topics=220, memories=20_000, hubs=0.002)
    dropped = detect(*planted[:3]).dropped
    hubs = [entity for entity in dropped if entity >= 10_000]
    assert len(hubs) == 20
    assert len(dropped) - len(hubs) <= 2


def test_ten_times_as_many_hubs_as_are_dropped_at_first_are_left_out_by_doubling() -> None:
    planted = topic_graph(10_000, topics=220, memories=20_000, hubs=0.01)
    found = detect(*planted[:3])
    assert found.giant_share < 0.02
    assert agreement(found.labels, planted.truth) > 0.97
