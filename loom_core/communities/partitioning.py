"""A graph's communities, as arrays: what the worker stores."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loom_core.communities.building import EdgeBatch, build_graph
from loom_core.communities.graph import Graph
from loom_core.communities.hubs import HubOrder, NameOrder
from loom_core.communities.levels import coarser_level
from loom_core.communities.numbering import Level, number_communities
from loom_core.communities.search import DropRule, search_communities

Progress = Callable[[str, int, int], None]
"""Told the stage (`hub drop` or `levels`), how many of its steps are done, and the most there can be."""


@dataclass(frozen=True)
class ArrayPartition:
    """The communities of a graph of n entities."""

    hashes: NDArray[np.uint64]
    """[n] of the entities that have an edge, ascending."""
    levels: tuple[Level, ...]
    """The finest first. Fewer than were asked for where the graph has no coarser structure; none where it
    is empty or every entity was dropped."""
    dropped: NDArray[np.uint64]
    """Hashes of the hubs left out, which have no community on any level; the strongest first."""
    giant_share: float
    """The share of the n entities that the largest community of level 0 holds."""
    hub_drop_fraction: float
    """The one that was kept."""
    capped: bool
    """No drop brought the largest community under the share asked for."""
    modularity: float
    """Of level 0, before any dropped entity returned, on the graph without the dropped."""
    seconds: float
    """What the computation took, the reading of the graph excluded."""


def partition(
    graph: Graph,
    rule: DropRule | None = None,
    *,
    levels: int = 2,
    by_name: NameOrder | None = None,
    progress: Progress | None = None,
) -> ArrayPartition:
    """Partition a graph; a function of the graph and the rule alone (D30).

    `by_name` orders entities of equal degree by their names (D31), which a graph of hashes does not hold;
    it is asked at most once a pass, only about entities that tie where a drop ends. Without it they go by
    hash. Raises ValueError where `levels` is below 1.
    """
    if levels < 1:
        raise ValueError(f"levels: {levels} is below 1")
    began = time.perf_counter()
    rule = rule or DropRule()
    if graph.entities == 0:
        fraction = rule.series(0)[0].fraction
        return ArrayPartition(graph.hashes, (), graph.hashes, 0.0, fraction, False, 0.0, 0.0)

    def report(stage: str) -> Callable[[int, int], None]:
        return lambda done, total: progress(stage, done, total) if progress is not None else None

    hubs = HubOrder(graph, by_name)
    kept, capped = search_communities(graph, rule, hubs, report("hub drop"))
    found = _levels(graph, number_communities(graph, kept.labels), rule, levels, report("levels"))
    return ArrayPartition(
        hashes=graph.hashes,
        levels=found,
        dropped=graph.hashes[hubs.strongest_first(kept.left_out)],
        giant_share=kept.giant_share,
        hub_drop_fraction=kept.drop.fraction,
        capped=capped,
        modularity=kept.modularity,
        seconds=time.perf_counter() - began,
    )


def _levels(
    graph: Graph, finest: Level, rule: DropRule, wanted: int, progress: Callable[[int, int], None]
) -> tuple[Level, ...]:
    if finest.communities == 0:
        return ()
    found = [finest]
    progress(1, wanted)
    while len(found) < wanted:
        above = coarser_level(graph, found[-1], rule)
        if above is None:
            break
        found.append(above)
        progress(len(found), wanted)
    return tuple(found)


def detect_arrays(
    a: NDArray[np.uint64],
    b: NDArray[np.uint64],
    weights: NDArray[np.integer],
    *,
    hub_drop_fraction: float = 0.001,
    hub_drop_max: float | None = None,
    giant_share: float = 0.1,
    levels: int = 2,
    entities: int | None = None,
    by_name: NameOrder | None = None,
    progress: Progress | None = None,
) -> ArrayPartition:
    """Partition the graph of these edges; the arguments of `build_graph`, `DropRule` and `partition`.

    For edges that come in batches, give those to `build_graph` and its graph to `partition`.
    """
    rule = DropRule(hub_drop_fraction, hub_drop_max, giant_share)
    graph = build_graph([EdgeBatch(a, b, weights)], entities=entities)
    return partition(graph, rule, levels=levels, by_name=by_name, progress=progress)
