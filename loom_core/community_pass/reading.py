"""A namespace's co-occurrence graph as hashes: names never enter Python on the way in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loom_core.communities import EdgeBatch, HashCollision
from loom_core.memory.rows import digest
from loom_core.settings import Settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

SEEDS = 8
BYTES_A_PAIR = 28
"""12 while it is read and 16 in the graph (`build_graph`)."""
BYTES_AN_ENTITY = 160
"""The table of hashes at its sparsest, labels, degrees, queue, and the levels above."""
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class GraphState:
    """What held at an instant, before it is read: a hash of it and of the rules, and how large it is."""

    graph_hash: str
    pairs: int

    def memory_mib(self, entities: int) -> int:
        """What a pass over it needs at most, in MiB."""
        return (self.pairs * BYTES_A_PAIR + entities * BYTES_AN_ENTITY) // MIB


def graph_state(store: Store, scope: Scope, settings: Settings, now: int) -> GraphState:
    """The state of the observations that hold at `now` (µs), in whatever order they are stored (D32).

    The hash covers the settings too: another hub drop gives another partition of the same graph.
    """
    count, xor, total, pairs = store.rows(
        sql("community_pass.state"), org=scope.org, namespace=scope.namespace, now=now
    )[0]
    rules = [
        settings.entity_communities_hub_drop_fraction,
        settings.entity_communities_hub_drop_max,
        settings.entity_communities_giant_share,
        settings.entity_communities_levels,
    ]
    return GraphState(digest(json.dumps([rules, count, xor, total])), int(pairs))


@dataclass(frozen=True, slots=True)
class GraphReader:
    """Reads one namespace at one instant, with a hash under which no two of its names are one."""

    store: Store
    scope: Scope
    now: int
    prefix: str
    entities: int

    def edges(self) -> Iterator[EdgeBatch]:
        """The pairs that hold, each with the sum of its observations."""
        for a, b, weights in self._blocks("community_pass.edges", now=self.now):
            yield EdgeBatch(a, b, weights.astype(np.int64))

    def names(self) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.object_]]]:
        """Every entity of the namespace that has or had an edge: (hashes, names), a batch at a time."""
        return ((hashes, names) for hashes, names in self._blocks("community_pass.names"))

    def order(self, hashes: NDArray[np.uint64]) -> NDArray[np.integer]:
        """The indices that sort these hashes by their names: how ties of degree are broken (D31)."""
        names = np.full(len(hashes), "", dtype=object)
        by_hash = np.argsort(hashes)
        ordered = hashes[by_hash]
        for found, texts in self.names():
            at = np.searchsorted(ordered, found)
            at[at == len(ordered)] = 0
            hit = ordered[at] == found
            names[by_hash[at[hit]]] = texts[hit]
        return np.argsort(names, kind="stable")

    def _blocks(self, statement: str, **parameters: object) -> Iterator[list[Any]]:
        yield from self.store.blocks(
            sql(statement),
            org=self.scope.org,
            namespace=self.scope.namespace,
            prefix=self.prefix,
            **parameters,
        )


def open_graph(store: Store, scope: Scope, now: int) -> GraphReader:
    """A reader whose seed keeps all names apart. Raises `HashCollision` if none of the first eight does."""
    for seed in range(SEEDS):
        prefix = f"{seed}:" if seed else ""
        names, hashes = store.rows(
            sql("community_pass.names_and_hashes"), org=scope.org, namespace=scope.namespace, prefix=prefix
        )[0]
        if names == hashes:
            return GraphReader(store, scope, now, prefix, int(names))
    raise HashCollision(f"{scope}: {names} names have {hashes} different hashes under every seed")
