"""A stream of edge batches to a graph."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from loom_core.communities import rows
from loom_core.communities.graph import Graph, Weights
from loom_core.communities.interning import Interner

LARGEST_TOTAL = 1 << 62
"""The weights of a graph add up to at most this: twice the sum, the degrees' total, still fits an int64."""
LARGEST_INT32 = np.iinfo(np.int32).max


class EdgeBatch(NamedTuple):
    """Edges as three aligned arrays of one dimension; a pair may repeat, in either direction."""

    a: NDArray[np.uint64]
    """64-bit hashes of one end."""
    b: NDArray[np.uint64]
    """64-bit hashes of the other end."""
    weights: NDArray[np.integer]
    """0 is an edge that is not there."""


class HashCollision(ValueError):
    """Two names share a 64-bit hash: hash them all again with another seed."""


class _Numbered(NamedTuple):
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    weights: Weights


def build_graph(batches: Iterable[EdgeBatch], *, entities: int | None = None) -> Graph:
    """Read the batches once, in any order, and add up the weights of repeated pairs.

    Self edges and edges of weight 0 are left out, and so is an entity that has no other edge. Takes 12 bytes
    a row while reading and 16 bytes a pair for the graph (16 and 24 where a weight does not fit an int32).

    `entities` is the number of different names that have an edge, where the caller has counted them.

    Raises ValueError, naming the field: arrays of unequal length or of more than one dimension, hashes that
    are not uint64, weights that are no integers, negative, or add up to more than 2**62. Raises HashCollision
    where the edges name fewer hashes than `entities`.
    """
    interner = Interner()
    numbered: list[_Numbered] = []
    total = 0
    for batch in batches:
        a, b, weights = _kept_edges(batch)
        total += _exact_sum(weights)
        if total > LARGEST_TOTAL:
            raise ValueError("weights: they add up to more than 2**62")
        numbered.append(_Numbered(interner.number(a), interner.number(b), _narrowed(weights)))
    hashes = interner.hashes()
    del interner
    if entities is not None and entities > len(hashes):
        raise HashCollision(f"{entities} names have {len(hashes)} different hashes")
    return _assemble(hashes, numbered)


def _kept_edges(batch: EdgeBatch) -> EdgeBatch:
    a, b, weights = batch
    for field, column in zip(EdgeBatch._fields, batch, strict=True):
        if column.ndim != 1:
            raise ValueError(f"{field}: an array of one dimension is needed, not {column.ndim}")
    if not len(a) == len(b) == len(weights):
        raise ValueError(f"a, b and weights differ in length: {len(a)}, {len(b)} and {len(weights)}")
    if a.dtype != np.uint64 or b.dtype != np.uint64:
        raise ValueError(f"a and b: hashes are uint64, not {a.dtype} and {b.dtype}")
    if weights.dtype.kind not in "iu":
        raise ValueError(f"weights: integers are needed, not {weights.dtype}")
    if len(weights) and weights.min() < 0:
        raise ValueError(f"weights: {weights.min()} is negative (row {weights.argmin()})")
    if len(weights) and weights.max() > LARGEST_TOTAL:
        raise ValueError("weights: they add up to more than 2**62")
    kept = (a != b) & (weights > 0)
    if kept.all():
        return EdgeBatch(a, b, weights)
    return EdgeBatch(a[kept], b[kept], weights[kept])


def _narrowed(weights: NDArray[np.integer]) -> Weights:
    """As int32 where they fit, else as int64, and in an array of the one kind that the loops are compiled for."""
    narrow = weights.max(initial=0) <= LARGEST_INT32
    return np.require(weights, np.int32 if narrow else np.int64, ["C", "W"])


def _exact_sum(weights: NDArray[np.integer]) -> int:
    if len(weights) and int(weights.max()) * len(weights) > LARGEST_TOTAL:
        return sum(weights.tolist())
    return int(weights.sum())


def _assemble(hashes: NDArray[np.uint64], numbered: list[_Numbered]) -> Graph:
    """The graph of these edges, whose ends are indices into `hashes`; empties the list to free its arrays."""
    count = len(hashes)
    by_hash = np.argsort(hashes)
    rank = np.empty(count, np.int32)
    rank[by_hash] = np.arange(count, dtype=np.int32)
    offsets = np.zeros(count + 1, np.int64)
    for batch in numbered:
        rows.count_ends(batch.a, batch.b, rank, offsets)
    np.cumsum(offsets, out=offsets)
    wide = any(batch.weights.dtype == np.int64 for batch in numbered)
    neighbours = np.empty(offsets[-1], np.int32)
    weights = np.empty(offsets[-1], np.int64 if wide else np.int32)
    free = offsets[:-1].copy()
    while numbered:
        batch = numbered.pop()
        rows.place_edges(batch.a, batch.b, batch.weights, rank, free, neighbours, weights)
    rows.sort_rows(offsets, neighbours, weights)
    if not wide and rows.heaviest_pair(offsets, neighbours, weights) > LARGEST_INT32:
        weights = weights.astype(np.int64)
    degrees = np.empty(count, np.int64)
    used = rows.merge_repeats(offsets, neighbours, weights, degrees)
    return Graph(hashes[by_hash], offsets, neighbours[:used], weights[:used], degrees)
