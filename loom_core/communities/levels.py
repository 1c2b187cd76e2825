"""Communities of communities."""

from collections.abc import Iterator

import numpy as np

from loom_core.communities.building import EdgeBatch, build_graph
from loom_core.communities.graph import Graph
from loom_core.communities.numbering import Level, number_communities
from loom_core.communities.search import DropRule, search_communities

ENTITIES_A_BATCH = 1 << 16
MOST_OF_ALL = 0.5
"""A level whose largest community holds more than this share of the entities says nothing worth storing."""


def coarser_level(graph: Graph, level: Level, rule: DropRule) -> Level | None:
    """The level above: the same search, over the graph whose entities are the communities of `level`.

    A community that the search left out, or that has no edge to another, stays as it is: whoever has a
    community on a level has one on each level above. None where nothing was merged, or where the merged
    would hold more than half of the entities: a graph without a coarser structure fuses into one.
    """
    between = build_graph(_edges_between(graph, level))
    if between.entities == 0:
        return None
    kept, _ = search_communities(between, rule)
    by_key = np.argsort(level.keys)
    community_of = by_key[np.searchsorted(level.keys, between.hashes, sorter=by_key)].astype(np.int32)
    merged = np.arange(level.communities, dtype=np.int32)
    placed = kept.labels >= 0
    merged[community_of[placed]] = community_of[kept.labels[placed]]
    above = number_communities(graph, np.where(level.labels >= 0, merged[level.labels], np.int32(-1)))
    if above.communities == level.communities or above.sizes[0] > MOST_OF_ALL * graph.entities:
        return None
    return above


def _edges_between(graph: Graph, level: Level) -> Iterator[EdgeBatch]:
    """The edges whose ends lie in two communities, named by the communities' keys; each edge once."""
    for begin in range(0, graph.entities, ENTITIES_A_BATCH):
        bounds = graph.offsets[begin : begin + ENTITIES_A_BATCH + 1]
        row = slice(bounds[0], bounds[-1])
        ours = np.repeat(level.labels[begin : begin + len(bounds) - 1], np.diff(bounds))
        theirs = level.labels[graph.neighbours[row]]
        # Each edge is in the rows of both its ends: the row of the larger id's end is passed over.
        once = (ours >= 0) & (ours < theirs)
        yield EdgeBatch(level.keys[ours[once]], level.keys[theirs[once]], graph.weights[row][once])
