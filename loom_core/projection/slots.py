"""Typed triples: statements go in as a set, and what holds when comes out of the slot rule (invariant 4).

`write_statements` puts down who stated what (projection `triples`); `derive_slots` reads all statements of the
touched slots, asks the rule, and writes the intervals that changed (projection `closes`). Nothing closes "the old
one" on the spot, so whichever projector comes last leaves the same graph.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loom_core import faults
from loom_core.graph.lifecycle import RowHistory, history_from_json, history_to_json
from loom_core.graph.ontology import Cardinality, Ontology
from loom_core.graph.slots import Statement, derive, derive_alone
from loom_core.memory.rows import digest
from loom_core.projection.edges import changes, read_stored
from loom_core.projection.inputs import NamespaceContext, read_context
from loom_core.projection.plan import Plan
from loom_core.projection.reading import StatedTriple
from loom_core.projection.units import slot_version
from loom_core.storage.statements import sql
from loom_core.storage.store import Store, in_chunks
from loom_core.tenancy import Scope

STATEMENT_COLUMNS = (
    "org", "namespace", "memory_id", "subject", "relation", "object", "position", "own_start", "own_end", "past",
    "confidence", "adapter_name", "provenance", "history", "gone", "memory_key", "value_sha256", "ver",
)  # fmt: skip
TRIPLE_COLUMNS = (
    "org", "namespace", "subject", "relation", "object", "memory_id", "span", "memory_key", "value_sha256",
    "confidence", "adapter_name", "provenance", "valid_from", "valid_to", "invalid_at", "arrival", "ver", "gone",
)  # fmt: skip
SLOTS_A_QUERY = 500

Triple = tuple[str, str, str]


@dataclass(slots=True)
class SlotRead:
    """One slot as read: its statements, the lives of their rows, what is stored of each row and object."""

    statements: list[Statement] = field(default_factory=list)
    histories: dict[str, RowHistory] = field(default_factory=dict)
    details: dict[tuple[str, str], tuple[Any, ...]] = field(default_factory=dict)
    versions: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class IntervalChange:
    """A stored interval that the rule sees otherwise: what `loom replay closes` prints."""

    triple: Triple
    memory_id: str
    span: int
    payload: tuple[Any, ...]
    ver: int
    gone: int


def write_statements(store: Store, scope: Scope, plan: Plan) -> set[Triple]:
    """Puts the statements of the plan's rows down and returns every triple whose slot they touch."""
    touched, lines = statement_lines(store, scope, plan)
    faults.reach("triples", "insert")
    store.insert("slot_statements", STATEMENT_COLUMNS, lines)
    faults.reach("triples", "inserted")
    return touched


def statement_lines(store: Store, scope: Scope, plan: Plan) -> tuple[set[Triple], list[list[Any]]]:
    """The triples that the plan's rows touch, and what `write_statements` would write."""
    stored = read_stored(store, scope, "projection.stored_statements", plan.stored_ids(), key_width=4)
    touched: set[Triple] = set()
    lines = []
    for planned in plan.rows:
        row, life = planned.row, history_to_json(planned.history)
        desired: dict[tuple[Any, ...], tuple[Any, ...]] = {
            (each.subject, each.relation, each.object, each.position): (
                each.own_start, each.own_end, int(each.past), each.confidence, each.adapter_name,
                each.provenance, life, 0,
            )
            for each in planned.reading.triples
        }  # fmt: skip
        before = stored.get(row.memory_id, {})
        touched |= {(s, r, o) for s, r, o, _ in (*desired, *before)}
        for key, rest, gone in changes(desired, before):
            if gone and before[key][-1]:
                continue  # retracted already
            lines.append(
                [scope.org, scope.namespace, row.memory_id, *key, *rest[:-1], gone, row.memory_key,
                 row.content_sha256, planned.ver]
            )  # fmt: skip
    return touched, lines


def derive_slots(store: Store, scope: Scope, touched: Iterable[Triple], plan: Plan | None = None) -> int:
    """Derives the slots of these triples again and writes what changed; returns how many intervals did.

    Without a plan the namespace's decisions are read here, after the statements were written: whoever comes later,
    the writer or the operator who changes an ontology, then sees both.
    """
    triples = sorted(touched)
    if not triples:
        return 0
    context = plan.context if plan else read_context(store, scope)
    lines: list[list[Any]] = []
    alone, together = _part(triples, plan)
    if plan is not None and alone:
        lines += _lines(scope, _changes_of_lone_rows(plan, alone, context))
    lines += _lines(scope, changed_intervals(store, scope, together, context))
    faults.reach("closes", "insert")
    store.insert("entity_triples", TRIPLE_COLUMNS, lines)
    faults.reach("closes", "inserted")
    return len(lines)


def changed_intervals(
    store: Store, scope: Scope, triples: Sequence[Triple], context: NamespaceContext
) -> list[IntervalChange]:
    """What the slot rule would change of the stored intervals. Writes nothing: `--dry-run` prints it."""
    ontology = Ontology.merged(context.ontologies)
    slots = sorted({(s, r) for s, r, _ in triples if ontology.cardinality(r) == "one"})
    singles = [t for t in triples if ontology.cardinality(t[1]) != "one"]
    found: list[IntervalChange] = []
    for keys, width in ((slots, 2), (singles, 3)):
        for chunk in in_chunks(keys, SLOTS_A_QUERY):
            found += _changes_of_chunk(store, scope, list(chunk), width, context.revision)
    return found


def _part(triples: Sequence[Triple], plan: Plan | None) -> tuple[list[Triple], list[Triple]]:
    """Triples of a `many` relation that only rows standing alone state, and all the others.

    Such a statement depends on no other, so that a bulk write need not read what it has just written.
    """
    if plan is None:
        return [], list(triples)
    shared: set[Triple] = set()
    for planned in plan.rows:
        if not (planned.fresh and planned.alone):
            shared |= {(t.subject, t.relation, t.object) for t in planned.reading.triples}
    fresh = {(t.subject, t.relation, t.object) for p in plan.rows if p.fresh for t in p.reading.triples}
    alone = [
        t for t in triples if t in fresh and t not in shared and plan.ontology.cardinality(t[1]) != "one"
    ]
    apart = set(alone)
    return alone, [t for t in triples if t not in apart]


def _changes_of_lone_rows(
    plan: Plan, alone: Iterable[Triple], context: NamespaceContext
) -> list[IntervalChange]:
    apart = set(alone)
    found = []
    for planned in plan.rows:
        row, ver = planned.row, slot_version([planned.ver], context.revision, 0)
        stated: dict[Triple, list[StatedTriple]] = {}
        for each in planned.reading.triples:
            triple = (each.subject, each.relation, each.object)
            if triple in apart:
                stated.setdefault(triple, []).append(each)
        for triple, several in stated.items():
            statements = [
                Statement(row.memory_id, t.position, t.object, t.own_start, t.own_end, t.past)
                for t in several
            ]
            surest = max(several, key=lambda each: each.confidence)
            details = (
                row.memory_key, row.content_sha256, surest.confidence, surest.adapter_name, surest.provenance
            )  # fmt: skip
            found += [
                IntervalChange(triple, row.memory_id, span, (*details, *interval, row.arrival), ver, 0)
                for span, interval in enumerate(derive_alone(statements, planned.history))
            ]
    return found


def _changes_of_chunk(
    store: Store, scope: Scope, keys: list[tuple[str, ...]], width: int, revision: int
) -> list[IntervalChange]:
    key = "(subject, relation)" if width == 2 else "(subject, relation, object)"
    type_ = "Array(Tuple(String, String))" if width == 2 else "Array(Tuple(String, String, String))"
    names = {"org": scope.org, "namespace": scope.namespace}
    reads: dict[tuple[str, ...], SlotRead] = defaultdict(SlotRead)
    select = sql("projection.slot_statements").format(key=key, type=type_)
    for line in store.rows(select, slots=keys, **names):
        s, r, o, memory_id, *rest, history, ver, gone = line
        read = reads[(s, r, o)[:width]]
        read.versions.append(ver)
        if not gone:
            read.histories[memory_id] = history_from_json(history)
            _take(read, o, memory_id, *rest)
    faults.reach("closes", "derive")
    stored: dict[tuple[str, ...], dict[tuple[Any, ...], tuple[Any, ...]]] = defaultdict(dict)
    select = sql("projection.slot_intervals").format(key=key, type=type_)
    for s, r, o, memory_id, span, *payload in store.rows(select, slots=keys, **names):
        stored[(s, r, o)[:width]][(o, memory_id, span)] = tuple(payload)
    epochs = _epochs(store, scope, keys)
    found = []
    for slot in keys:
        ver = slot_version(reads[slot].versions, revision, epochs.get(slot, 0))
        cardinality = "one" if width == 2 else "many"
        found += _compare(slot[:2], reads[slot], stored.get(slot, {}), cardinality, ver)
    return found


def _take(
    read: SlotRead, object_: str, memory_id: str, position: int, memory_key: str, own_start: int | None,
    own_end: int | None, past: int, confidence: float, adapter: str, provenance: str, sha: str,
) -> None:  # fmt: skip
    read.statements.append(Statement(memory_id, position, object_, own_start, own_end, bool(past)))
    known = read.details.get((object_, memory_id))
    if known is None or confidence > known[2]:
        read.details[object_, memory_id] = (memory_key, sha, confidence, adapter, provenance)


def _compare(
    slot: Sequence[str], read: SlotRead, stored: Mapping[tuple[Any, ...], tuple[Any, ...]], cardinality: Any,
    ver: int,
) -> list[IntervalChange]:  # fmt: skip
    return [
        IntervalChange((slot[0], slot[1], o), memory_id, span, payload, ver, gone)
        for (o, memory_id, span), payload, gone in changes(_desired(read, cardinality), stored)
    ]


def _desired(read: SlotRead, cardinality: Cardinality) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """What the rule says: (object, memory id, span) → the columns of its interval."""
    intervals = derive(read.statements, read.histories, cardinality)
    return {
        (object_, memory_id, span): (
            *read.details[object_, memory_id], each.valid_from, each.valid_to, each.invalid_at,
            read.histories[memory_id].arrival,
        )
        for (memory_id, object_), spans in intervals.items()
        for span, each in enumerate(spans)
    }  # fmt: skip


def _lines(scope: Scope, found: Iterable[IntervalChange]) -> list[list[Any]]:
    return [
        [
            scope.org,
            scope.namespace,
            *each.triple,
            each.memory_id,
            each.span,
            *each.payload,
            each.ver,
            each.gone,
        ]
        for each in found
    ]


def slot_hashes(scope: Scope, triple: Triple) -> tuple[str, str]:
    """The hashes of the slot and of the single triple: what an erasure counts under, whatever the cardinality."""
    subject, relation, object_ = triple
    return (
        digest("slot", scope.org, scope.namespace, subject, relation),
        digest("slot", scope.org, scope.namespace, subject, relation, object_),
    )


def _epochs(store: Store, scope: Scope, keys: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    by_hash = {digest("slot", scope.org, scope.namespace, *key): key for key in keys}
    lines = store.rows(
        sql("projection.slot_epochs"), org=scope.org, namespace=scope.namespace, hashes=list(by_hash)
    )
    return {by_hash[hashed]: int(count) for hashed, count in lines}


def count_epoch(store: Store, scope: Scope, triples: Iterable[Triple], epoch_id: str) -> None:
    """Makes the versions of these slots grow, because statements were taken out of them."""
    hashes = sorted({hashed for triple in triples for hashed in slot_hashes(scope, triple)})
    store.insert(
        "slot_epochs",
        ("org", "namespace", "slot_hash", "epoch_id"),
        [[scope.org, scope.namespace, hashed, epoch_id] for hashed in hashes],
    )


def describe(change: IntervalChange) -> str:
    """One line for a person: the triple, and what would be written of it."""
    *_, start, valid_to, invalid_at, _ = change.payload
    state = {
        "retract": bool(change.gone),
        "valid_from": start,
        "valid_to": valid_to,
        "invalid_at": invalid_at,
    }
    return f"{' '.join(change.triple)}: {json.dumps(state)}"
