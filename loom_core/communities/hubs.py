"""Hubs: entities so generic that they would fuse every community, who they are and which may come back."""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from loom_core.communities.compiled import compiled
from loom_core.communities.graph import Graph, Weights

NameOrder = Callable[[NDArray[np.uint64]], NDArray[np.integer]]
"""Takes the hashes of some entities, gives the indices that sort them by name (as np.argsort would)."""


class Drop(NamedTuple):
    """One step of the hub drop."""

    fraction: float
    entities: int
    """The entities dropped: the fraction of all that have an edge, rounded down."""


def drop_maximum(entities: int) -> float:
    """The largest fraction to drop where none is set (D31)."""
    return max(0.05, min(0.25, 50 / entities)) if entities else 0.25


def drop_series(entities: int, fraction: float, maximum: float) -> list[Drop]:
    """The drops to try in turn: from `fraction` (at most `maximum`), doubled up to `maximum` (D31).

    A doubling that drops nobody new is left out; a fraction of 0 does not double.
    """
    fraction = min(fraction, maximum)
    series = [Drop(fraction, whole_count(fraction, entities))]
    while 0 < fraction < maximum:
        fraction = min(2 * fraction, maximum)
        count = whole_count(fraction, entities)
        if count > series[-1].entities:
            series.append(Drop(fraction, count))
    return series


def whole_count(fraction: float, entities: int) -> int:
    # Read as the decimal it was written as: 0.29 of 100 is 29, not the 28 of binary floating point.
    return math.floor(Decimal(str(fraction)) * entities)


class HubOrder:
    """Entities by weighted degree, highest first, and by name where degrees are equal (D31)."""

    def __init__(self, graph: Graph, by_name: NameOrder | None = None) -> None:
        """`by_name` is asked only where the answer hangs on it; without it equal degrees go by hash."""
        self._graph = graph
        self._by_name = by_name
        # Stable: equal degrees stay in the order of the ids, which is that of the hashes.
        self._order = np.argsort(-graph.degrees, kind="stable").astype(np.int32)
        self._falling_degrees = -graph.degrees[self._order]

    def first(self, count: int) -> NDArray[np.int32]:
        """int32[count]: the ids of the `count` strongest, the strongest first but for equal degrees."""
        if 0 < count < len(self._order):
            degree = self._falling_degrees[count]
            begin = np.searchsorted(self._falling_degrees, degree, "left")
            end = np.searchsorted(self._falling_degrees, degree, "right")
            if begin < count:
                self._order[begin:end] = self.strongest_first(self._order[begin:end])
        return self._order[:count].copy()

    def strongest_first(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """The same ids by degree, then by name."""
        by_name = np.sort(ids)
        if self._by_name is not None and len(ids):
            by_name = by_name[self._by_name(self._graph.hashes[by_name])]
        return by_name[np.argsort(-self._graph.degrees[by_name], kind="stable")]


def returning(graph: Graph, labels: NDArray[np.int32], dropped: NDArray[np.int32]) -> NDArray[np.int32]:
    """The label each dropped entity returns to, or -1, as int32[len(dropped)].

    One returns to the label that holds at least 0.3 of its surviving weight, its weight to entities that
    are not dropped (D31); of two such labels the heavier, then the one whose name has the smaller hash.
    `labels` is int32[n], -1 at the dropped.
    """
    return _returning(graph.offsets, graph.neighbours, graph.weights, labels, dropped)


@compiled
def _returning(
    offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    weights: Weights,
    labels: NDArray[np.int32],
    dropped: NDArray[np.int32],
) -> NDArray[np.int32]:
    weight_of = np.zeros(len(labels), np.int64)
    chosen = np.full(len(dropped), -1, np.int32)
    for k in range(len(dropped)):
        row = range(offsets[dropped[k]], offsets[dropped[k] + 1])
        surviving, best, best_weight = np.int64(0), np.int32(-1), np.int64(0)
        for edge in row:
            label = labels[neighbours[edge]]
            if label < 0:
                continue
            surviving += weights[edge]
            weight_of[label] += weights[edge]
            weight = weight_of[label]
            if weight > best_weight or (weight == best_weight and label < best):
                best, best_weight = label, weight
        for edge in row:
            label = labels[neighbours[edge]]
            if label >= 0:
                weight_of[label] = 0
        # 0.3 of the weight, rounded up, without a product that could pass 2^63.
        needed = 3 * (surviving // 10) + (3 * (surviving % 10) + 9) // 10
        if surviving > 0 and best_weight >= needed:
            chosen[k] = best
    return chosen
