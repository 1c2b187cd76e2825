"""Stores a pass: all its memberships first, then the row that makes it the one that is read (D32)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from loom_core import clock, faults
from loom_core.communities import ArrayPartition, Graph
from loom_core.community_pass.reading import GraphReader
from loom_core.settings import Settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

MEMBER_COLUMNS = (
    "org", "namespace", "pass_id", "level", "entity", "community_id", "stable_key", "weight"
)  # fmt: skip
PASS_COLUMNS = (
    "org", "namespace", "pass_id", "finished_at", "graph_hash", "entities", "edges", "communities", "dropped",
    "hub_drop_fraction", "giant_share", "capped", "modularity", "seconds", "ver",
)  # fmt: skip
ROWS_AN_INSERT = 500_000


def pass_id(started_at: int) -> str:
    """The id of the pass that began then (µs): ids sort by when their passes began."""
    return f"{started_at:020d}"


def write_members(
    store: Store, reader: GraphReader, graph: Graph, found: ArrayPartition, id_: str
) -> list[str]:
    """Writes every level's memberships; returns the names of the hubs that were left out, strongest first."""
    hub_names: dict[int, str] = {}
    scope = reader.scope
    for hashes, names, at in _members(reader, graph):
        for hub in np.flatnonzero(np.isin(hashes, found.dropped)):
            hub_names[int(hashes[hub])] = str(names[hub])
        for number, level in enumerate(found.levels):
            labels = level.labels[at]
            placed = np.flatnonzero(labels >= 0)
            if not len(placed):
                continue
            ids = labels[placed]
            count = len(placed)
            store.insert_columns(
                "entity_communities",
                MEMBER_COLUMNS,
                [[scope.org] * count, [scope.namespace] * count, [id_] * count, [number] * count,
                 names[placed].tolist(), ids.astype(np.uint32), level.keys[ids], graph.degrees[at[placed]]],
            )  # fmt: skip
    return [hub_names[int(hash_)] for hash_ in found.dropped]


def _members(
    reader: GraphReader, graph: Graph
) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.object_], NDArray[np.intp]]]:
    """(hashes, names, places in the graph) of the graph's entities, in portions of one INSERT."""
    kept: list[tuple[NDArray[np.uint64], NDArray[np.object_]]] = []
    waiting = 0
    for hashes, names in reader.names():
        at = np.searchsorted(graph.hashes, hashes)
        at[at == graph.entities] = 0
        known = graph.hashes[at] == hashes
        kept.append((hashes[known], names[known]))
        waiting += int(known.sum())
        if waiting >= ROWS_AN_INSERT:
            yield _joined(kept, graph)
            kept, waiting = [], 0
    if waiting:
        yield _joined(kept, graph)


def _joined(
    kept: list[tuple[NDArray[np.uint64], NDArray[np.object_]]], graph: Graph
) -> tuple[NDArray[np.uint64], NDArray[np.object_], NDArray[np.intp]]:
    hashes = np.concatenate([each[0] for each in kept])
    names = np.concatenate([each[1] for each in kept])
    return hashes, names, np.searchsorted(graph.hashes, hashes)


def make_visible(
    store: Store, scope: Scope, id_: str, graph_hash: str, graph: Graph, found: ArrayPartition,
    dropped: list[str], started_at: int,
) -> None:  # fmt: skip
    """Points readers at the pass. A pass that began earlier never wins over one that began later."""
    now = clock.now()
    faults.reach("entity_communities", "written")
    store.insert(
        "community_passes",
        PASS_COLUMNS,
        [[scope.org, scope.namespace, id_, now, graph_hash, graph.entities, graph.edges,
          found.levels[0].communities, dropped, found.hub_drop_fraction, found.giant_share, int(found.capped),
          found.modularity, (now - started_at) / clock.SECOND, started_at]],
    )  # fmt: skip


def prune(
    store: Store, scope: Scope, current: str, previous: str, started_at: int, settings: Settings
) -> None:
    """Deletes what no reader can be reading and no other pass can be writing any more.

    The pass before stays for those who read its row a moment ago; one that began lately may be under way in a
    process whose lease ran out.
    """
    before = pass_id(started_at - 2 * settings.tick_hard_limit_s * clock.SECOND)
    store.command(
        sql("community_pass.prune"),
        org=scope.org, namespace=scope.namespace, before=before, kept=[current, previous],
    )  # fmt: skip
