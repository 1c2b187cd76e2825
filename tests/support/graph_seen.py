"""The graph of a namespace as readers see it, and its removal."""

from __future__ import annotations

from tests.support.world import World

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
