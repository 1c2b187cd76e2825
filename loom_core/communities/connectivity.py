"""Communities that fell apart: whoever moved on may have been all that held the old one together."""

import numpy as np
from numpy.typing import NDArray

from loom_core.communities.compiled import compiled
from loom_core.communities.graph import Graph


def split_unconnected(graph: Graph, labels: NDArray[np.int32]) -> None:
    """Give each connected part of a community a label of its own: the id of the part's first entity.

    `labels` is int32[n], changed in place; -1, an entity that takes no part, stays -1.
    """
    labels[:] = _connected_parts(graph.offsets, graph.neighbours, labels)


@compiled
def _connected_parts(
    offsets: NDArray[np.int64], neighbours: NDArray[np.int32], labels: NDArray[np.int32]
) -> NDArray[np.int32]:
    """A forest over the entities, joined along the edges inside communities; a root is its tree's first."""
    parent = np.arange(len(labels), dtype=np.int32)
    for entity in range(len(labels)):
        if labels[entity] < 0:
            parent[entity] = -1
            continue
        for edge in range(offsets[entity], offsets[entity + 1]):
            neighbour = neighbours[edge]
            if neighbour > entity:
                break  # rows are sorted: the other end's row will join the two
            if labels[neighbour] == labels[entity]:
                one, other = entity, neighbour
                while parent[one] != one:
                    parent[one] = parent[parent[one]]
                    one = parent[one]
                while parent[other] != other:
                    parent[other] = parent[parent[other]]
                    other = parent[other]
                parent[max(one, other)] = min(one, other)
    for entity in range(len(labels)):
        if parent[entity] >= 0:
            parent[entity] = parent[parent[entity]]  # a parent comes before its child: it is done
    return parent
