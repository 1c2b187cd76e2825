"""Co-occurrence observations, mentions and numeric facts: sets keyed by the row version that named them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loom_core import faults
from loom_core.graph.pairs import pairs
from loom_core.projection.inputs import CHUNK
from loom_core.projection.plan import Plan
from loom_core.storage.statements import sql
from loom_core.storage.store import Store, in_chunks
from loom_core.tenancy import Scope

EDGE_COLUMNS = (
    "org", "namespace", "entity_a", "entity_b", "memory_id", "span", "memory_key", "value_sha256",
    "valid_from", "valid_to", "invalid_at", "arrival", "ver", "gone",
)  # fmt: skip
MENTION_COLUMNS = (
    "org", "namespace", "mention", "memory_id", "entity", "entity_type", "memory_key", "ver", "gone"
)  # fmt: skip
FACT_COLUMNS = (
    "org", "namespace", "entity", "attribute", "memory_id", "position", "memory_key", "value", "unit", "date",
    "adapter_name", "ver", "gone",
)  # fmt: skip

Stored = dict[str, dict[tuple[Any, ...], tuple[Any, ...]]]


def project_edges(store: Store, scope: Scope, plan: Plan) -> None:
    """Brings the observations of the plan's rows up to date: one row a pair and span of validity (D19, D47)."""
    lines = edge_lines(store, scope, plan)
    faults.reach("edges", "insert")
    store.insert("entity_edges", EDGE_COLUMNS, lines)
    faults.reach("edges", "inserted")


def edge_lines(store: Store, scope: Scope, plan: Plan) -> list[list[Any]]:
    """What `project_edges` would write."""
    stored = read_stored(store, scope, "projection.stored_edges", plan.stored_ids(), key_width=3)
    lines = []
    for planned in plan.rows:
        spans = tuple(enumerate(planned.history.spans))
        desired = {(a, b, span): times for a, b in pairs(planned.reading.entities()) for span, times in spans}
        for key, times, gone in changes(desired, stored.get(planned.row.memory_id, {})):
            a, b, span = key
            row = planned.row
            lines.append(
                [scope.org, scope.namespace, a, b, row.memory_id, span, row.memory_key, row.content_sha256,
                 *times, row.arrival, planned.ver, gone]
            )  # fmt: skip
    return lines


def project_mentions(store: Store, scope: Scope, plan: Plan) -> None:
    """Records every mention of the plan's rows with the node it was taken for (D21)."""
    lines = mention_lines(store, scope, plan)
    faults.reach("mentions", "insert")
    store.insert("entity_canonical_map", MENTION_COLUMNS, lines)


def mention_lines(store: Store, scope: Scope, plan: Plan) -> list[list[Any]]:
    """What `project_mentions` would write."""
    stored = read_stored(store, scope, "projection.stored_mentions", plan.stored_ids(), key_width=1)
    lines = []
    for planned in plan.rows:
        desired = {(each.mention,): (each.entity, each.type) for each in planned.reading.mentions}
        for (mention,), named, gone in changes(desired, stored.get(planned.row.memory_id, {})):
            lines.append(
                [scope.org, scope.namespace, mention, planned.row.memory_id, *named, planned.row.memory_key,
                 planned.ver, gone]
            )  # fmt: skip
    return lines


def project_facts(store: Store, scope: Scope, plan: Plan) -> None:
    """Writes the numeric facts of the plan's rows."""
    lines = fact_lines(store, scope, plan)
    faults.reach("facts", "insert")
    store.insert("derived_facts", FACT_COLUMNS, lines)


def fact_lines(store: Store, scope: Scope, plan: Plan) -> list[list[Any]]:
    """What `project_facts` would write."""
    stored = read_stored(store, scope, "projection.stored_facts", plan.stored_ids(), key_width=3)
    lines = []
    for planned in plan.rows:
        desired = {
            (fact.entity, fact.attribute, fact.position): (
                fact.value,
                fact.unit,
                fact.date,
                fact.adapter_name,
            )
            for fact in planned.reading.facts
        }
        for key, stated, gone in changes(desired, stored.get(planned.row.memory_id, {})):
            entity, attribute, position = key
            lines.append(
                [scope.org, scope.namespace, entity, attribute, planned.row.memory_id, position,
                 planned.row.memory_key, *stated, planned.ver, gone]
            )  # fmt: skip
    return lines


def read_stored(store: Store, scope: Scope, statement: str, ids: list[str], key_width: int) -> Stored:
    """What a graph table holds of these rows: memory id → key → the rest of the columns."""
    found: Stored = {}
    for chunk in in_chunks(ids, CHUNK):
        for memory_id, *values in store.rows(
            sql(statement), org=scope.org, namespace=scope.namespace, ids=list(chunk)
        ):
            found.setdefault(memory_id, {})[tuple(values[:key_width])] = tuple(values[key_width:])
    return found


def changes(
    desired: Mapping[tuple[Any, ...], tuple[Any, ...]], stored: Mapping[tuple[Any, ...], tuple[Any, ...]]
) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...], int]]:
    """(key, rest, gone): entries to write because they differ, and stored ones to retract."""
    if not stored:
        yield from ((key, rest, 0) for key, rest in desired.items())
        return
    for key, rest in desired.items():
        if stored.get(key) != rest:
            yield key, rest, 0
    for key, rest in stored.items():
        if key not in desired:
            yield key, rest, 1
