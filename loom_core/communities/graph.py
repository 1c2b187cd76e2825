"""A weighted graph as arrays: each entity's neighbours in one sorted run."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.int32] | NDArray[np.int64]


@dataclass(frozen=True)
class Graph:
    """An undirected graph in compressed sparse rows, every edge in the rows of both its ends.

    An entity's id is the rank of its hash, and every row is sorted by neighbour: so the arrays, and all that
    is computed from them in their order, are a function of the graph alone (D30).
    """

    hashes: NDArray[np.uint64]
    """[n] each entity's 64-bit hash, ascending."""
    offsets: NDArray[np.int64]
    """[n + 1] entity i's row is the slice offsets[i]:offsets[i + 1] of the two arrays below."""
    neighbours: NDArray[np.int32]
    """[2m] ids of the neighbours."""
    weights: Weights
    """[2m] of the edges, above zero; held as int32 where all of them fit."""
    degrees: NDArray[np.int64]
    """[n] the sum of each row's weights."""

    @property
    def entities(self) -> int:
        return len(self.hashes)

    @property
    def edges(self) -> int:
        return len(self.neighbours) // 2
