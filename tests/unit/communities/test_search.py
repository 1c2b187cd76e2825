"""The search for the hub drop to keep (D31)."""

from itertools import chain

import numpy as np
import pytest

from loom_core.communities import DropRule, detect
from loom_core.communities.hubs import Drop
from loom_core.communities.search import Pass, choose_pass
from tests.support.planted_graphs import clique, columns

NOTHING = np.empty(0, np.int32)


def passes(*steps: tuple[float, float]) -> list[Pass]:
    """One pass per (giant share, modularity)."""
    return [Pass(Drop(k / 100, k), NOTHING, NOTHING, share, gain) for k, (share, gain) in enumerate(steps)]


@pytest.mark.parametrize(
    ("steps", "kept", "capped"),
    [
        ([(0.05, 0.8)], 0, False),
        ([(0.1, 0.8)], 0, False),  # the share itself is no giant
        ([(0.9, 0.1), (0.5, 0.2), (0.05, 0.8)], 2, False),
        ([(0.9, 0.1), (0.05, 0.5), (0.05, 0.52), (0.05, 0.6)], 3, False),  # on while it gains
        ([(0.05, 0.5), (0.05, 0.51), (0.05, 0.9)], 0, False),  # 0.01 is not more than 0.01
        ([(0.05, 0.5), (0.2, 0.9)], 0, False),  # a gain that brings the giant back is none
        ([(0.9, 0.1), (0.5, 0.2), (0.6, 0.9)], 1, True),  # the smallest giant
        ([(0.5, 0.1), (0.5, 0.9)], 0, True),  # of equal ones the earlier
    ],
)
def test_the_pass_that_is_kept(steps: list[tuple[float, float]], kept: int, capped: bool) -> None:
    tried = passes(*steps)
    assert choose_pass(tried, 0.1) == (tried[kept], capped)


def test_no_pass_is_run_that_is_not_needed() -> None:
    run = []

    def series():
        for found in passes((0.9, 0.1), (0.05, 0.5), (0.05, 0.5), (0.05, 0.9)):
            run.append(found)
            yield found

    choose_pass(series(), 0.1)
    assert len(run) == 3


@pytest.mark.parametrize("field", ["hub_drop_fraction", "hub_drop_max", "giant_share"])
def test_a_rule_outside_0_to_1_names_its_field(field: str) -> None:
    with pytest.raises(ValueError, match=f"^{field}: 2 is not between 0 and 1"):
        DropRule(**{field: 2})


TOPICS = [[f"t{k}_{i}" for i in range(5)] for k in range(12)]
TOPIC_EDGES = [edge for topic in TOPICS for edge in clique(topic, 2)]
ENTITIES = list(chain(*TOPICS))


def with_hubs(*hubs: str, weight: int = 20) -> tuple[list, list, list]:
    return columns(TOPIC_EDGES + [(hub, name, weight) for hub in hubs for name in ENTITIES])


def test_a_fraction_of_0_drops_nobody_and_says_that_a_giant_is_left() -> None:
    found = detect(*with_hubs("user"), hub_drop_fraction=0)
    assert found.dropped == () and found.hub_drop_fraction == 0
    assert found.capped and found.giant_share == 1


def test_the_drop_stops_at_its_maximum_and_says_that_a_giant_is_left() -> None:
    found = detect(*with_hubs("a", "b", "c", "d"), hub_drop_fraction=0.001, hub_drop_max=0.04)
    assert found.capped and found.giant_share > 0.1
    assert found.hub_drop_fraction <= 0.04


def test_the_drop_doubles_until_the_topics_come_apart() -> None:
    found = detect(*with_hubs("a", "b", "c", "d"))
    assert found.dropped == ("a", "b", "c", "d")
    assert not found.capped and found.giant_share == pytest.approx(5 / 64)
    assert len(set(found.labels.values())) == 12


def test_a_whole_that_nothing_splits_is_kept_whole() -> None:
    found = detect(*columns(clique([f"k{i}" for i in range(60)])))
    assert found.capped and found.giant_share == 1 and found.dropped == ()
    assert found.hub_drop_fraction == 0.001  # of equal giants the first pass


def test_a_strong_entity_with_a_community_returns() -> None:
    """Its degree is a hub's, its weight lies in one topic."""
    edges = (
        TOPIC_EDGES
        + [("core", name, 30) for name in TOPICS[0]]
        + [("core", name, 1) for name in ENTITIES[5:]]
    )
    found = detect(*columns(edges), hub_drop_fraction=0.02)
    assert found.dropped == ()
    assert {found.labels[name] for name in TOPICS[0]} == {found.labels["core"]}
