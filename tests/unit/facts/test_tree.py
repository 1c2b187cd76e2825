from __future__ import annotations

import pytest

from loom_core.facts.edges import Step
from loom_core.facts.tree import HubRule, Node, grow, seed_node

OFF = HubRule()


def parents(*names: str) -> dict[str, Node]:
    return {name: Node(name, ("seed", name), weight=1, cumulative_weight=1) for name in names}


@pytest.mark.parametrize(
    ("claims", "winner"),
    [
        ([Step("ann", "kid", 1, 9, 0.5), Step("bob", "kid", 1, 9, 0.6)], "bob"),
        ([Step("ann", "kid", 1, 9, 0.5), Step("bob", "kid", 2, 9, 0.5)], "bob"),
        ([Step("bob", "kid", 1, 9, 0.5), Step("ann", "kid", 1, 9, 0.5)], "ann"),
    ],
)
def test_a_node_two_parents_keep_goes_to_the_score_then_the_weight_then_the_name(
    claims: list[Step], winner: str
) -> None:
    (node,) = grow(parents("ann", "bob"), claims, OFF)
    assert node.path == ("seed", winner, "kid")


def test_the_order_of_the_claims_does_not_matter() -> None:
    claims = [Step("ann", "kid", 1, 9, 0.5), Step("bob", "kid", 1, 9, 0.5), Step("ann", "cub", 1, 9, 0.5)]
    assert grow(parents("ann", "bob"), claims, OFF) == grow(parents("ann", "bob"), claims[::-1], OFF)


def test_weights_add_up_along_the_path() -> None:
    (child,) = grow({"seed": seed_node("seed")}, [Step("seed", "child", 3, 9, 1.0)], OFF)
    (grandchild,) = grow({"child": child}, [Step("child", "grandchild", 4, 9, 1.0)], OFF)
    assert (grandchild.hop, grandchild.weight, grandchild.cumulative_weight) == (2, 4, 7)


@pytest.mark.parametrize(
    ("rule", "weight", "degree", "hub"),
    [
        (HubRule(), 1, 10**6, False),
        (HubRule(degree=10), 5, 9, False),
        (HubRule(degree=10), 5, 10, True),
        (HubRule(share=0.01), 1, 99, False),
        (HubRule(share=0.01), 1, 100, True),
        (HubRule(share=0.07), 7, 100, True),
        (HubRule(share=0.01), 1, 0, False),
        (HubRule(degree=10, share=0.5), 9, 10, True),
    ],
)
def test_a_hub_has_the_degree_or_an_edge_of_at_most_the_share(
    rule: HubRule, weight: int, degree: int, hub: bool
) -> None:
    assert rule.covers(weight, degree) is hub
