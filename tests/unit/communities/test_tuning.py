"""What `loom communities tune` shows."""

import numpy as np
import pytest

from loom_core.communities import DropRule, build_graph, degree_tail, hash_names, partition, what_if
from loom_core.communities.building import EdgeBatch
from tests.support.planted_graphs import clique, columns
from tests.support.small_graphs import graph_of

HUBS = ["bug", "pr", "todo", "user"]
TOPICS = [[f"t{k}_{i}" for i in range(5)] for k in range(12)]
EDGES = [edge for topic in TOPICS for edge in clique(topic, 2)]
EDGES += [(hub, name, 20) for hub in HUBS for topic in TOPICS for name in topic]


def graph() -> object:
    a, b, weights = columns(EDGES)
    return build_graph([EdgeBatch(hash_names(a), hash_names(b), np.array(weights))])


def test_each_fraction_says_whom_it_drops_and_what_comes_of_it() -> None:
    outcomes = what_if(graph(), DropRule(hub_drop_fraction=0.02))
    assert [len(outcome.dropped) for outcome in outcomes] == [1, 2, 5, 10, 16]
    assert [outcome.communities for outcome in outcomes][:3] == [1, 1, 12]
    assert [outcome.kept for outcome in outcomes] == [False, False, True, False, False]
    kept = outcomes[2]
    assert set(kept.left_out.tolist()) == set(hash_names(HUBS).tolist()) < set(kept.dropped.tolist())
    assert kept.giant_share == pytest.approx(5 / 64)
    assert kept.modularity == pytest.approx(11 / 12, abs=0.01)


def test_what_is_kept_is_what_a_partition_keeps() -> None:
    rule = DropRule()
    (kept,) = (outcome for outcome in what_if(graph(), rule) if outcome.kept)
    found = partition(graph(), rule)
    assert (kept.fraction, kept.giant_share, kept.modularity) == (
        found.hub_drop_fraction,
        found.giant_share,
        found.modularity,
    )
    assert np.array_equal(kept.left_out, found.dropped)
    assert kept.communities == found.levels[0].communities


def test_the_tail_tells_how_much_weight_the_strongest_hold() -> None:
    tail = degree_tail(graph())
    assert [(point.fraction, point.entities) for point in tail] == [
        (0.02, 1), (0.05, 3), (0.1, 6), (0.25, 16), (0.5, 32), (1.0, 64),
    ]  # fmt: skip
    assert [point.degree for point in tail] == [1200, 1200, 88, 88, 88, 88]
    total = 4 * 1200 + 60 * 88
    assert tail[1].weight_share == pytest.approx(3 * 1200 / total)
    assert tail[-1].weight_share == 1


def test_progress_reaches_its_total() -> None:
    told: list[tuple[int, int]] = []
    outcomes = what_if(graph(), progress=lambda done, total: told.append((done, total)))
    assert told == [(done, len(outcomes)) for done in range(1, len(outcomes) + 1)]


def test_an_empty_graph_has_neither_tail_nor_outcomes() -> None:
    assert degree_tail(graph_of([])) == []
    assert what_if(graph_of([])) == []
