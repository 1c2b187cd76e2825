"""The search for the hub drop under which no community is a giant (D31)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from loom_core.communities.connectivity import split_unconnected
from loom_core.communities.graph import Graph
from loom_core.communities.hubs import Drop, HubOrder, drop_maximum, drop_series, returning
from loom_core.communities.modularity import modularity
from loom_core.communities.propagation import propagate

MODULARITY_GAIN = 0.01
"""A further doubling has to gain more than this. The share of the largest community alone cannot be tuned: a
half of it stops far too early, a fiftieth drops real entities."""


@dataclass(frozen=True)
class DropRule:
    """How many hubs may be dropped for the sake of communities that are not fused (D31)."""

    hub_drop_fraction: float = 0.001
    """Of the entities that have an edge: what the first pass drops."""
    hub_drop_max: float | None = None
    """No pass drops a larger fraction; None: max(0.05, min(0.25, 50 / entities))."""
    giant_share: float = 0.1
    """A community that holds a larger share of the entities is a giant."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"{field.name}: {value} is not between 0 and 1")

    def series(self, entities: int) -> list[Drop]:
        """The drops to try in turn, of a graph of so many entities."""
        maximum = drop_maximum(entities) if self.hub_drop_max is None else self.hub_drop_max
        return drop_series(entities, self.hub_drop_fraction, maximum)


@dataclass(frozen=True)
class Pass:
    """The communities under one hub drop."""

    drop: Drop
    labels: NDArray[np.int32]
    """int32[n]: the id of an entity of its community, -1 where it has none."""
    left_out: NDArray[np.int32]
    """The ids of the dropped that did not return."""
    giant_share: float
    """The largest community's share of the n entities, those that returned included."""
    modularity: float
    """Of the surviving graph: the one without any of the dropped."""


def run_pass(graph: Graph, drop: Drop, hubs: HubOrder) -> Pass:
    """Drop hubs, propagate, let back in those that belong somewhere, and settle once more."""
    dropped = hubs.first(drop.entities)
    labels = np.arange(graph.entities, dtype=np.int32)
    labels[dropped] = -1
    propagate(graph, labels, np.flatnonzero(labels >= 0).astype(np.int32))
    split_unconnected(graph, labels)
    quality = modularity(graph, labels)
    chosen = returning(graph, labels, dropped)
    labels[dropped] = chosen
    returned = dropped[chosen >= 0]
    if propagate(graph, labels, _neighbourhood(graph, labels, returned)) > 0:
        split_unconnected(graph, labels)
    sizes = np.bincount(labels[labels >= 0], minlength=1)
    return Pass(drop, labels, dropped[chosen < 0], float(sizes.max()) / graph.entities, quality)


def _neighbourhood(graph: Graph, labels: NDArray[np.int32], ids: NDArray[np.int32]) -> NDArray[np.int32]:
    """All that could move because these returned: they themselves and their neighbours."""
    near = np.zeros(graph.entities, np.bool_)
    near[ids] = True
    for i in ids:
        near[graph.neighbours[graph.offsets[i] : graph.offsets[i + 1]]] = True
    return np.flatnonzero(near & (labels >= 0)).astype(np.int32)


PassProgress = Callable[[int, int], None]
"""Told the passes done and the most that there can be."""


def search_communities(
    graph: Graph, rule: DropRule, hubs: HubOrder | None = None, progress: PassProgress | None = None
) -> tuple[Pass, bool]:
    """The pass to keep for a graph that is not empty, and whether it still has a giant (`capped`)."""
    hubs = hubs or HubOrder(graph)
    series = rule.series(graph.entities)

    def passes() -> Iterator[Pass]:
        for done, drop in enumerate(series, start=1):
            found = run_pass(graph, drop, hubs)
            if progress is not None:
                progress(done, len(series))
            yield found

    return choose_pass(passes(), rule.giant_share)


def choose_pass(passes: Iterable[Pass], giant_share: float) -> tuple[Pass, bool]:
    """The pass to keep of a series of ever larger drops, and whether it still has a giant (`capped`).

    The first whose largest share is not over `giant_share`, then on while the modularity of the surviving
    graph gains more than 0.01. Where every pass has a giant, the one with the smallest, the earlier of two.
    Takes no more of the passes than it needs.
    """
    kept: Pass | None = None
    smallest: Pass | None = None
    for found in passes:
        fused = found.giant_share > giant_share
        if kept is not None:
            if fused or found.modularity <= kept.modularity + MODULARITY_GAIN:
                return kept, False
            kept = found
        elif not fused:
            kept = found
        elif smallest is None or found.giant_share < smallest.giant_share:
            smallest = found
    if kept is not None:
        return kept, False
    if smallest is None:
        raise ValueError("passes: at least one is needed")
    return smallest, True
