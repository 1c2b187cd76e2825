"""Communities of named entities."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from loom_core.communities.columns import hashed_ends, whole_weights
from loom_core.communities.names import Entity, Names
from loom_core.communities.partitioning import ArrayPartition, detect_arrays


@dataclass(frozen=True, eq=False)
class Communities:
    """A partition into communities, and what it left out."""

    giant_share: float
    """The largest community's share of the entities that have an edge."""
    hub_drop_fraction: float
    """The fraction of those entities that was dropped in the pass that was kept."""
    capped: bool
    """No drop up to the maximum brought the largest community under the share asked for."""
    _partition: ArrayPartition
    _names: Names

    @cached_property
    def labels(self) -> dict[Entity, int]:
        """Entity to community id: 0, 1, 2 …, the largest first. No key for an entity that has none (D30)."""
        if not self._partition.levels:
            return {}
        ids = self._partition.levels[0].labels
        placed = ids >= 0
        return dict(zip(self._names.of(self._partition.hashes[placed]), ids[placed].tolist(), strict=True))

    @cached_property
    def dropped(self) -> tuple[Entity, ...]:
        """The hubs left out: the highest weighted degree first, then by name."""
        return tuple(self._names.of(self._partition.dropped))


def detect(
    sources: Sequence[Entity] | NDArray[Any],
    targets: Sequence[Entity] | NDArray[Any],
    weights: Sequence[int] | NDArray[Any],
    *,
    hub_drop_fraction: float = 0.001,
    hub_drop_max: float | None = None,
    giant_share: float = 0.1,
) -> Communities:
    """Find the communities of the graph whose edges are the rows of three aligned columns.

    Entities are strings or integers. A pair may repeat, in either direction: its weights, whole numbers, add
    up. Self edges and weights of 0 count for nothing. The answer depends on nothing but the graph (D30); the
    three options are D31's.

    Raises ValueError, naming the field: columns of unequal length, entities of another type, weights that
    are negative, not whole or add up to more than 2**62, an option that is not between 0 and 1.
    """
    a, b, names = hashed_ends(sources, targets)
    counts = whole_weights(weights)
    if not len(a) == len(b) == len(counts):
        raise ValueError(
            f"sources, targets and weights differ in length: {len(a)}, {len(b)} and {len(counts)}"
        )
    partition = detect_arrays(
        a,
        b,
        counts,
        hub_drop_fraction=hub_drop_fraction,
        hub_drop_max=hub_drop_max,
        giant_share=giant_share,
        levels=1,
        by_name=names.order,
    )
    return Communities(partition.giant_share, partition.hub_drop_fraction, partition.capped, partition, names)
