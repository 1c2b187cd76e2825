"""How a walk grows into a tree: which parent a node hangs from, and what is a hub. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from loom_core.facts.edges import Step


@dataclass(frozen=True, slots=True)
class HubRule:
    """When a reached node is reported but not expanded; 0 turns either rule off (D43)."""

    degree: int = 0
    share: float = 0.0

    def covers(self, weight: int, degree: int) -> bool:
        """Whether a node of total `degree`, reached over an edge of `weight`, is a hub.

        "A node with total degree at least this is a hub"; "when the edge that reached it is at most this
        share of its degree".
        """
        by_degree = self.degree > 0 and degree >= self.degree
        return by_degree or (self.share > 0 and degree > 0 and weight / degree <= self.share)


@dataclass(frozen=True, slots=True)
class Node:
    """An entity of the walk; the seed is the one at hop 0."""

    entity: str
    path: tuple[str, ...]
    weight: int = 0
    cumulative_weight: int = 0
    degree: int = 0
    hub: bool = False

    @property
    def hop(self) -> int:
        """Edges from the seed."""
        return len(self.path) - 1


def seed_node(entity: str) -> Node:
    """The node a walk starts from. "The seed always expands", so it is no hub."""
    return Node(entity, (entity,))


def grow(frontier: Mapping[str, Node], steps: Iterable[Step], hubs: HubRule) -> list[Node]:
    """The next hop's nodes, in the order of the answer: heaviest first, names last.

    "A node kept by two parents goes to the better score, then the heavier edge, then the parent's name"
    (D26).
    `cumulative_weight` is "the sum of `via_co_occur` along `path`" (D26).
    """
    best: dict[str, Step] = {}
    for step in steps:
        rival = best.get(step.child)
        if rival is None or _claim(step) < _claim(rival):
            best[step.child] = step
    nodes = []
    for step in best.values():
        parent = frontier[step.parent]
        nodes.append(
            Node(
                step.child,
                (*parent.path, step.child),
                step.weight,
                parent.cumulative_weight + step.weight,
                step.degree,
                hubs.covers(step.weight, step.degree),
            )
        )
    return sorted(nodes, key=lambda node: (-node.cumulative_weight, node.entity))


def _claim(step: Step) -> tuple[float, int, str]:
    return (-step.score, -step.weight, step.parent)
