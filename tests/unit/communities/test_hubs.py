"""Who is dropped, in what order, and who comes back."""

import numpy as np
import pytest

from loom_core.communities import detect
from loom_core.communities.hubs import HubOrder, drop_maximum, drop_series, returning, whole_count
from tests.support.planted_graphs import columns
from tests.support.small_graphs import entities_of, graph_of, ids_of


@pytest.mark.parametrize(
    ("entities", "maximum"),
    [(0, 0.25), (1, 0.25), (200, 0.25), (250, 0.2), (1000, 0.05), (10**7, 0.05)],
)
def test_the_default_maximum_follows_the_size(entities: int, maximum: float) -> None:
    assert drop_maximum(entities) == pytest.approx(maximum)


@pytest.mark.parametrize(
    ("entities", "fraction", "maximum", "drops"),
    [
        (10_000, 0.001, 0.05, [10, 20, 40, 80, 160, 320, 500]),
        (51, 0.001, 0.25, [0, 1, 3, 6, 12]),  # 0.002 to 0.016 drop nobody new
        (44, 0.025, 0.25, [1, 2, 4, 8, 11]),
        (3, 0.001, 0.25, [0]),
        (100, 0.0, 0.25, [0]),  # 0 does not double
        (100, 0.3, 0.05, [5]),  # never past the maximum
        (100, 0.02, 0.0, [0]),
        (100, 1.0, 1.0, [100]),
    ],
)
def test_the_drop_doubles_up_to_the_maximum(
    entities: int, fraction: float, maximum: float, drops: list[int]
) -> None:
    series = drop_series(entities, fraction, maximum)
    assert [drop.entities for drop in series] == drops
    assert all(drop.fraction <= maximum for drop in series)


@pytest.mark.parametrize(
    ("fraction", "entities", "count"), [(0.29, 100, 29), (0.001, 999, 0), (0.07, 100, 7)]
)
def test_a_fraction_is_read_as_the_decimal_it_is_written_as(
    fraction: float, entities: int, count: int
) -> None:
    assert whole_count(fraction, entities) == count


def by_number(graph) -> object:
    inverse = np.uint64(pow(0x9E3779B97F4A7C15, -1, 2**64))
    return lambda hashes: np.argsort(hashes * inverse - np.uint64(1))


RING = graph_of([(k, (k + 1) % 10, 1) for k in range(10)])
TWO_HEAVY = graph_of([(k, (k + 1) % 10, 5 if k in (3, 7) else 1) for k in range(10)])


@pytest.mark.parametrize("count", range(11))
def test_equal_degrees_are_dropped_by_name(count: int) -> None:
    order = HubOrder(RING, by_number(RING))
    assert sorted(entities_of(RING, order.first(count))) == list(range(count))


def test_the_highest_weighted_degree_goes_first() -> None:
    order = HubOrder(TWO_HEAVY, by_number(TWO_HEAVY))
    for count, expected in [(1, [3]), (2, [3, 4]), (3, [3, 4, 7]), (4, [3, 4, 7, 8]), (5, [3, 4, 7, 8, 0])]:
        assert sorted(entities_of(TWO_HEAVY, order.first(count))) == sorted(expected)
    assert entities_of(TWO_HEAVY, order.strongest_first(order.first(5))) == [3, 4, 7, 8, 0]


def test_names_are_asked_for_only_where_a_cut_divides_equals() -> None:
    asked = []

    def by_name(hashes: np.ndarray) -> np.ndarray:
        asked.append(len(hashes))
        return np.argsort(hashes)

    order = HubOrder(TWO_HEAVY, by_name)
    order.first(4)
    order.first(10)
    assert asked == []
    order.first(2)
    assert asked == [4]


def test_hubs_of_equal_degree_are_named_in_the_order_of_their_names() -> None:
    names = [f"e{k:02}" for k in range(40)]
    edges = [(hub, name, 1) for hub in ("zeta", "alpha", "mu") for name in names]
    edges += [(names[k], names[k + 1], 1) for k in range(0, 40, 2)]
    found = detect(*columns(edges), hub_drop_fraction=0.07)
    assert found.dropped == ("alpha", "mu", "zeta")


@pytest.mark.parametrize(
    ("weights", "returns_to"),
    [
        ([3, 2, 2, 2, 1], 1),  # 0.3 of 10
        ([29, 24, 24, 23], -1),  # 0.29 of 100
        ([4, 3, 3, 3], 1),  # 4 of 13, rounded up
        ([3, 3, 2, 2, 1], -1),  # 3 of 11 is less than 0.3
        ([3 * 2**58, 2**58 + 1, 2**58], 1),
        ([1, 1, 1, 1], -1),
        ([7], 1),
    ],
)
def test_a_dropped_entity_returns_to_what_holds_three_tenths_of_its_weight(
    weights: list[int], returns_to: int
) -> None:
    graph = graph_of([(0, k, weight) for k, weight in enumerate(weights, start=1)])
    labels = np.arange(graph.entities, dtype=np.int32)
    hub = ids_of(graph, [0])
    labels[hub] = -1
    (chosen,) = returning(graph, labels, hub)
    assert (entities_of(graph, [chosen]) if chosen >= 0 else [-1]) == [returns_to]


def test_weight_to_other_dropped_entities_does_not_count() -> None:
    graph = graph_of([(0, 1, 1), (0, 2, 100), (2, 1, 1)])
    labels = np.arange(graph.entities, dtype=np.int32)
    dropped = ids_of(graph, [0, 2])
    labels[dropped] = -1
    assert entities_of(graph, returning(graph, labels, dropped)) == [1, 1]


def test_an_entity_all_of_whose_neighbours_were_dropped_stays_out() -> None:
    graph = graph_of([(0, 1, 1)])
    dropped = ids_of(graph, [0, 1])
    assert returning(graph, np.array([-1, -1], np.int32), dropped).tolist() == [-1, -1]
