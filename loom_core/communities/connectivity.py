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
    count = len(labels)
    parts = np.full(count, -1, np.int32)
    reached = np.empty(count, np.int32)
    for first in range(count):
        if labels[first] < 0 or parts[first] >= 0:
            continue
        parts[first] = first
        reached[0] = first
        done, end = 0, 1
        while done < end:
            entity = reached[done]
            done += 1
            for edge in range(offsets[entity], offsets[entity + 1]):
                neighbour = neighbours[edge]
                if labels[neighbour] == labels[first] and parts[neighbour] < 0:
                    parts[neighbour] = first
                    reached[end] = neighbour
                    end += 1
    return parts
