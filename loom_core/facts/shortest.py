"""The best of the shortest paths that a two-sided search found. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

Links = dict[str, dict[str, int]]
"""child -> {parent one hop nearer to this side's end: weight}."""


@dataclass(slots=True)
class Side:
    """One end of a search and what it has reached, level by level."""

    end: str
    levels: list[list[str]] = field(default_factory=list)
    depths: dict[str, int] = field(default_factory=dict)
    links: Links = field(default_factory=dict)
    trimmed: bool = False

    def __post_init__(self) -> None:
        self.levels = [[self.end]]
        self.depths = {self.end: 0}

    @property
    def frontier(self) -> list[str]:
        """The entities reached last, which have not been expanded."""
        return self.levels[-1]

    @property
    def explored(self) -> int:
        """Hops that reached somebody new."""
        return sum(1 for level in self.levels[1:] if level)

    def advance(self, rows: Iterable[tuple[str, str, int]], top_k: int) -> None:
        """Takes one hop: (parent, child, weight) of the frontier, each parent's heaviest first.

        A row past a parent's `top_k` is not taken; it says that the hop was trimmed.
        """
        taken: dict[str, int] = {}
        reached: Links = {}
        for parent, child, weight in rows:
            taken[parent] = taken.get(parent, 0) + 1
            if taken[parent] > top_k:
                self.trimmed = True
            else:
                reached.setdefault(child, {})[parent] = weight
        self.links |= reached
        self.depths |= dict.fromkeys(reached, len(self.levels))
        self.levels.append(sorted(reached))


def best_path(left: Side, right: Side) -> list[str] | None:
    """The shortest path between the two ends, or None where the sides have not met.

    "Of several shortest paths the one with the largest smallest `co_occur` wins, then by name" (D27): of
    equally strong ones the first in the order of the names along it.
    """
    met = left.depths.keys() & right.depths.keys()
    meeting = [(left.depths[name] + right.depths[name], name) for name in met]
    if not meeting:
        return None
    length = min(total for total, _ in meeting)
    layers = _layers(left, right, [name for total, name in meeting if total == length], length)
    strength = _widest(layers, left.end)[right.end]
    return _first_by_name(layers, left.end, strength)


Layer = dict[str, dict[str, int]]
"""name -> {name in the next layer: weight}."""


def _layers(left: Side, right: Side, meeting: Iterable[str], length: int) -> list[Layer]:
    """The edges of all shortest paths, as `length` layers from the left end to the right one."""
    layers: list[Layer] = [{} for _ in range(length)]
    for middle in meeting:
        at = left.depths[middle]
        level = {middle}
        for place in reversed(range(at)):
            edges = [(parent, name, weight) for name in level for parent, weight in left.links[name].items()]
            for parent, name, weight in edges:
                layers[place].setdefault(parent, {})[name] = weight
            level = {parent for parent, _, _ in edges}
        level = {middle}
        for place in range(at, length):
            edges = [(name, parent, weight) for name in level for parent, weight in right.links[name].items()]
            for name, parent, weight in edges:
                layers[place].setdefault(name, {})[parent] = weight
            level = {parent for _, parent, _ in edges}
    return layers


def _widest(layers: Sequence[Layer], start: str) -> dict[str, int]:
    """For each name of the last layer, the largest smallest weight of a path to it."""
    widths: dict[str, float] = {start: float("inf")}
    for layer in layers:
        reached: dict[str, float] = {}
        for name, targets in layer.items():
            for target, weight in targets.items():
                reached[target] = max(reached.get(target, 0), min(widths.get(name, 0), weight))
        widths = reached
    return {name: int(width) for name, width in widths.items()}


def _first_by_name(layers: Sequence[Layer], start: str, strength: int) -> list[str]:
    """The first path by name among those whose every edge weighs at least `strength`."""
    leads_on: list[set[str]] = [set() for _ in layers]
    for place in reversed(range(len(layers))):
        for name, targets in layers[place].items():
            last = place == len(layers) - 1
            if any(
                w >= strength and (last or target in leads_on[place + 1]) for target, w in targets.items()
            ):
                leads_on[place].add(name)
    path = [start]
    for place, layer in enumerate(layers):
        last = place == len(layers) - 1
        path.append(
            min(
                target
                for target, weight in layer[path[-1]].items()
                if weight >= strength and (last or target in leads_on[place + 1])
            )
        )
    return path
