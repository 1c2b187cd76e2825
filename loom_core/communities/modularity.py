"""How much more weight lies inside communities than chance would put there."""

import numpy as np
from numpy.typing import NDArray

from loom_core.communities.compiled import compiled
from loom_core.communities.graph import Graph, Weights


def modularity(graph: Graph, labels: NDArray[np.int32]) -> float:
    """Newman and Girvan's modularity of `labels` (int32[n]) on the graph without the entities of label -1.

    From -1/2 to 1; 0 where no edge is left.
    """
    inside, total = _weights_by_label(graph.offsets, graph.neighbours, graph.weights, labels)
    whole = float(total.sum())
    if whole == 0:
        return 0.0
    return float((inside / whole - (total / whole) ** 2).sum())


@compiled
def _weights_by_label(
    offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    weights: Weights,
    labels: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By label, summed over its entities' rows: the weight that stays inside it, and all of it."""
    inside = np.zeros(len(labels), np.int64)
    total = np.zeros(len(labels), np.int64)
    for entity in range(len(labels)):
        label = labels[entity]
        if label < 0:
            continue
        own, every = np.int64(0), np.int64(0)
        for edge in range(offsets[entity], offsets[entity + 1]):
            other = labels[neighbours[edge]]
            weight = np.int64(weights[edge])
            own += weight if other == label else 0
            every += weight if other >= 0 else 0
        inside[label] += own
        total[label] += every
    return inside, total
