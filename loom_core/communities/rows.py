"""Edge lists to sorted, merged rows."""

import numpy as np
from numpy.typing import NDArray

from loom_core.communities.compiled import compiled
from loom_core.communities.graph import Weights


@compiled
def count_ends(
    a: NDArray[np.int32], b: NDArray[np.int32], rank: NDArray[np.int32], counts: NDArray[np.int64]
) -> None:
    """Add to counts[i + 1] the number of these edges that touch the entity of rank i."""
    for edge in range(len(a)):
        counts[rank[a[edge]] + 1] += 1
        counts[rank[b[edge]] + 1] += 1


@compiled
def place_edges(
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    edge_weights: Weights,
    rank: NDArray[np.int32],
    free: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    weights: Weights,
) -> None:
    """Write each edge into the rows of both its ends, at free[i], which moves on."""
    for edge in range(len(a)):
        one, other = rank[a[edge]], rank[b[edge]]
        weight = edge_weights[edge]
        neighbours[free[one]] = other
        weights[free[one]] = weight
        free[one] += 1
        neighbours[free[other]] = one
        weights[free[other]] = weight
        free[other] += 1


@compiled
def sort_rows(offsets: NDArray[np.int64], neighbours: NDArray[np.int32], weights: Weights) -> None:
    """Sort each row by neighbour, in place: a transposition would need the rows twice in memory."""
    for entity in range(len(offsets) - 1):
        first, last = offsets[entity], offsets[entity + 1]
        if last - first > 64:
            order = np.argsort(neighbours[first:last])
            neighbours[first:last] = neighbours[first:last][order]
            weights[first:last] = weights[first:last][order]
            continue
        for edge in range(first + 1, last):
            neighbour, weight = neighbours[edge], weights[edge]
            place = edge
            while place > first and neighbours[place - 1] > neighbour:
                neighbours[place] = neighbours[place - 1]
                weights[place] = weights[place - 1]
                place -= 1
            neighbours[place] = neighbour
            weights[place] = weight


@compiled
def heaviest_pair(offsets: NDArray[np.int64], neighbours: NDArray[np.int32], weights: Weights) -> np.int64:
    """The largest weight a pair has once its repeats are added up; rows are sorted."""
    heaviest = np.int64(0)
    for entity in range(len(offsets) - 1):
        total = np.int64(0)
        for edge in range(offsets[entity], offsets[entity + 1]):
            if edge > offsets[entity] and neighbours[edge] == neighbours[edge - 1]:
                total += weights[edge]
            else:
                total = np.int64(weights[edge])
            heaviest = max(heaviest, total)
    return heaviest


@compiled
def merge_repeats(
    offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    weights: Weights,
    degrees: NDArray[np.int64],
) -> int:
    """Add up repeated pairs of sorted rows in place and fill in the degrees; what length is left."""
    end = 0
    first = offsets[0]
    for entity in range(len(offsets) - 1):
        last = offsets[entity + 1]
        row = end
        degree = np.int64(0)
        for edge in range(first, last):
            degree += weights[edge]
            if end > row and neighbours[end - 1] == neighbours[edge]:
                weights[end - 1] += weights[edge]
            else:
                neighbours[end] = neighbours[edge]
                weights[end] = weights[edge]
                end += 1
        degrees[entity] = degree
        first = last
        offsets[entity + 1] = end
    return end
