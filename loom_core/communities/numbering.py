"""From labels to the ids that people see."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loom_core.communities.compiled import compiled
from loom_core.communities.graph import Graph


@dataclass(frozen=True)
class Level:
    """A partition of the entities into communities 0, 1, 2 …, the largest first (D30)."""

    labels: NDArray[np.int32]
    """[n] each entity's community, -1 where it has none; readers never see the -1."""
    sizes: NDArray[np.int64]
    """By community: the number of its entities."""
    keys: NDArray[np.uint64]
    """By community: the hash of its strongest entity. Ids shift whenever a size does; this stays."""

    @property
    def communities(self) -> int:
        return len(self.sizes)


def number_communities(graph: Graph, labels: NDArray[np.int32]) -> Level:
    """Number the communities of `labels` (int32[n], any labels below n; -1: none) by size, then by key."""
    strongest = _strongest_by_label(labels, graph.degrees)
    used = np.flatnonzero(strongest >= 0)
    sizes = np.bincount(labels[labels >= 0], minlength=len(labels))[used]
    keys = graph.hashes[strongest[used]]
    order = np.lexsort((keys, -sizes))
    ids = np.full(len(labels) + 1, -1, np.int32)  # one more than there are labels: what -1 indexes
    ids[used[order]] = np.arange(len(used), dtype=np.int32)
    return Level(ids[labels], sizes[order], keys[order])


@compiled
def _strongest_by_label(labels: NDArray[np.int32], degrees: NDArray[np.int64]) -> NDArray[np.int32]:
    """The entity of the highest weighted degree under each label, the first of equals; -1: no entity."""
    strongest = np.full(len(labels), -1, np.int32)
    for entity in range(len(labels)):
        label = labels[entity]
        if label >= 0 and (strongest[label] < 0 or degrees[entity] > degrees[strongest[label]]):
            strongest[label] = entity
    return strongest
