"""The graph of a namespace as readers see it, its removal, and its rows without it."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Sequence
from dataclasses import astuple

from loom_core.memory.rows import key_hash
from tests.support.world import World

INPUTS = (
    "memory", "memory_events", "memory_extractions", "memory_links", "namespace_events", "entity_aliases",
)  # fmt: skip
TABLES = (
    "entity_edges", "entity_adjacency", "entity_edge_memories", "entity_edge_rows", "slot_statements",
    "entity_triples", "entity_triple_adjacency", "entity_triple_memories", "entity_triple_rows",
    "entity_canonical_map", "entity_degree", "degree_units",
)  # fmt: skip
SPANS = "memory_id, span, valid_from, valid_to, invalid_at"


def graph_of(world: World) -> dict[str, list[tuple[object, ...]]]:
    """What readers see, without the versions of the rows."""
    where = "WHERE org = {org:String} AND namespace = {namespace:String} ORDER BY ALL"
    found = {}
    for table, columns in (
        ("entity_edges", f"entity_a, entity_b, {SPANS}"),
        ("entity_adjacency", f"entity, neighbour, {SPANS}"),
        ("entity_triples", f"subject, relation, object, {SPANS}, confidence, provenance"),
        ("entity_triple_adjacency", f"entity, neighbour, relation, direction, {SPANS}"),
        ("entity_canonical_map", "mention, memory_id, entity"),
    ):
        found[table] = world.store.rows(f"SELECT {columns} FROM loom.{table} FINAL {where}", **world.names)
    found["degree"] = sorted(world.degrees().items())
    return found


def drop_graph(world: World) -> None:
    """As if nothing had ever been projected; the inputs stay."""
    for table in TABLES:
        world.store.command(
            f"ALTER TABLE loom.{table} DELETE WHERE org = {{org:String}} AND namespace = {{namespace:String}}",
            **world.names,
        )


def unprojected(world: World, keys: Sequence[str]) -> World:
    """A namespace with the same inputs of these keys, of which nothing was ever projected."""
    copy = World(world.store, world.settings, dataclasses.replace(world.scope, namespace=uuid.uuid4().hex))
    hashes = [[key_hash(*astuple(each.scope), key) for key in keys] for each in (world, copy)]
    for table in INPUTS:
        other = "{copy:String} AS namespace"
        if table == "memory_events":
            other += (
                ", transform(key_hash, {theirs:Array(String)}, {ours:Array(String)}, key_hash) AS key_hash"
            )
        world.store.command(
            f"INSERT INTO loom.{table} SELECT * REPLACE ({other}) FROM loom.{table} AS source "
            "WHERE source.org = {org:String} AND source.namespace = {namespace:String}",
            **world.names, copy=copy.scope.namespace, theirs=hashes[0], ours=hashes[1],
        )  # fmt: skip
    return copy
