"""Erasure: a saga that removes every trace of a key, from every table, and can be resumed at any step (D36).

A tombstone goes first: from then on no projector counts the erased versions as inputs, so nothing brings them back.
Then what they added is taken back (degree), the slots they stated are derived without them, and their rows are
deleted everywhere. A projector that had read them before the tombstone may still write after the deletion: once no
tick can be that old any more, everything is swept once again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from loom_core import clock, faults
from loom_core.errors import Unavailable
from loom_core.extraction import answer_key
from loom_core.memory.rows import digest, first_wins, key_hash
from loom_core.projection.degree import retire
from loom_core.projection.inputs import read_keys
from loom_core.projection.project import project
from loom_core.projection.slots import count_epoch, derive_slots
from loom_core.projection.units import Unit
from loom_core.settings import Settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

Forget = Callable[[Sequence[str]], None]


def forgets_nothing(_: Sequence[str]) -> None:
    """For a process without a cache of answers."""


BEGUN, DELETED, SWEPT = "begun", "deleted", "swept"
BY_ROW = (
    "entity_edges", "entity_adjacency", "entity_edge_memories", "entity_edge_rows", "slot_statements",
    "entity_triples", "entity_triple_adjacency", "entity_triple_memories", "entity_triple_rows",
    "entity_canonical_map", "derived_facts", "degree_units", "memory_extractions", "memory",
)  # fmt: skip
"""Tables whose rows name the row version they came from."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure and how far it has come."""

    erase_id: str
    key_hash: str
    memory_ids: Sequence[str]
    step: str
    counts: dict[str, int]
    at: int
    answer_keys: Sequence[str]
    """Under which Redis may hold what a model said of the rows' texts."""


def erase(
    store: Store, scope: Scope, memory_key: str, forget: Forget = forgets_nothing
) -> tuple[bool, dict[str, int], bool]:
    """Erases a key: (whether there was anything, rows erased by table, whether all of it is gone).

    `forget` deletes cached answers by their keys. Raises `Unavailable` while a store is away; calling again, or
    the fleet, then goes on where it stopped.
    """
    rows = read_keys(store, scope, [memory_key])[memory_key].rows
    hashed = key_hash(scope.org, scope.namespace, memory_key)
    if rows:
        ids = sorted(row.memory_id for row in rows)
        at = max(clock.now(), max(row.arrival for row in rows) + 1)
        answers = sorted({answer_key(row.text()) for row in rows})
        erasure = Erasure(digest("erase", hashed, *ids), hashed, ids, BEGUN, {}, at, answers)
        _save(store, scope, erasure)
        store.insert(
            "memory_events",
            ("org", "namespace", "key_hash", "event_id", "kind", "at", "start", "erased_ids", "first_wins"),
            [[scope.org, scope.namespace, hashed, erasure.erase_id, "erase", at, at, ids, first_wins(at)]],
        )
    under_way = [each for each in _read(store, scope) if each.key_hash == hashed and each.step == BEGUN]
    counts: dict[str, int] = {}
    done = True
    for each in under_way:
        ended = _run(store, scope, each, memory_key, forget)
        done = done and ended.step == DELETED
        for table, count in ended.counts.items():
            counts[table] = counts.get(table, 0) + count
    return bool(rows or under_way), counts, done


def resume(store: Store, scope: Scope, settings: Settings, forget: Forget = forgets_nothing) -> int:
    """Goes on with erasures that died, and sweeps those whose last projector cannot be at work any more.

    Returns how many it worked on.
    """
    settled = clock.now() - settings.tick_hard_limit_s * clock.SECOND
    worked = 0
    for each in _read(store, scope):
        if each.step == BEGUN:
            _run(store, scope, each, None, forget)
        elif each.step == DELETED and each.at < settled:
            swept = _run(store, scope, each, None, forget)
            if swept.step == DELETED:
                _save(store, scope, replace(swept, step=SWEPT))
        else:
            continue
        worked += 1
    return worked


def _run(store: Store, scope: Scope, erasure: Erasure, memory_key: str | None, forget: Forget) -> Erasure:
    """All steps, each safe to do twice. `memory_key` is None where the saga goes on by itself."""
    names = {"org": scope.org, "namespace": scope.namespace}
    ids = list(erasure.memory_ids)
    faults.reach("erase", "step")
    if memory_key is None:
        found = store.rows(sql("erase.key_of_hash"), ids=ids, **names)
        memory_key = found[0][0] if found else None
    retire(store, scope, ids)
    faults.reach("erase", "step")
    triples = {tuple(line) for line in store.rows(sql("erase.triples"), ids=ids, **names)}
    entities = [line[0] for line in store.rows(sql("erase.entities"), ids=ids, **names)]
    store.command(sql("erase.by_row").format(table="slot_statements"), ids=ids, **names)
    faults.reach("erase", "step")
    count_epoch(store, scope, triples, erasure.erase_id)
    derive_slots(store, scope, triples)
    faults.reach("erase", "step")
    _void_supersessions(store, scope, ids)
    counts = dict(erasure.counts)
    for table in BY_ROW:
        faults.reach("erase", "step")
        # Without FINAL: rows that were retracted or replaced lie in the parts until a merge, names and all.
        count = store.rows(sql("erase.count_by_row").format(table=table), ids=ids, **names)[0][0]
        if count:
            store.command(sql("erase.by_row").format(table=table), ids=ids, **names)
            counts[table] = counts.get(table, 0) + int(count)
    _delete_by_key(store, scope, erasure, memory_key, ids)
    _forget_entities(store, scope, entities)
    try:
        forget(erasure.answer_keys)
        done = replace(erasure, step=DELETED, counts=counts)
    except Unavailable:
        # Everything else is gone; the fleet goes on until the answers are, too.
        done = replace(erasure, counts=counts)
    _save(store, scope, done)
    return done


def _void_supersessions(store: Store, scope: Scope, ids: Sequence[str]) -> None:
    """Rows of other keys that the erased ones superseded were never superseded: says so, and projects them."""
    now = clock.now()
    units = []
    lines = []
    for hashed, key, by in store.rows(
        sql("erase.superseded"), org=scope.org, namespace=scope.namespace, ids=list(ids)
    ):
        event_id = digest("void", hashed, by)
        lines.append(
            [scope.org, scope.namespace, hashed, event_id, "void", key, by, now, now, first_wins(now)]
        )
        units.append(Unit(event_id, "event", key, by, now))
    store.insert(
        "memory_events",
        (
            "org",
            "namespace",
            "key_hash",
            "event_id",
            "kind",
            "memory_key",
            "memory_id",
            "at",
            "start",
            "first_wins",
        ),
        lines,
    )
    if units:
        project(store, scope, units)


def _delete_by_key(
    store: Store, scope: Scope, erasure: Erasure, memory_key: str | None, ids: Sequence[str]
) -> None:
    """Failures, tries, receipts, events, links and stored answers that name the key or its units."""
    names = {"org": scope.org, "namespace": scope.namespace}
    units = [*ids, *(f"x:{id_}" for id_ in ids)]
    units += [line[0] for line in store.rows(sql("erase.events_of_key"), key_hash=erasure.key_hash, **names)]
    for table in ("memory_projection_failures", "projection_attempts", "projection_receipts"):
        store.command(sql("erase.by_unit").format(table=table), units=units, **names)
    store.command(sql("erase.events"), key_hash=erasure.key_hash, until=erasure.at, **names)
    if memory_key is not None:
        store.command(sql("erase.links"), memory_key=memory_key, **names)
        store.command(sql("erase.answers"), memory_key=memory_key, **names)


def _forget_entities(store: Store, scope: Scope, entities: Sequence[str]) -> None:
    """Names that no row mentions any more leave the tables that only count or group them."""
    names = {"org": scope.org, "namespace": scope.namespace}
    left = {line[0] for line in store.rows(sql("erase.still_mentioned"), entities=list(entities), **names)}
    gone = [entity for entity in entities if entity not in left]
    if gone:
        for table in ("entity_degree", "entity_communities", "entity_vectors", "entity_summaries"):
            store.command(sql("erase.by_entity").format(table=table), entities=gone, **names)
        store.command(sql("erase.from_hubs"), entities=gone, **names)


def _save(store: Store, scope: Scope, erasure: Erasure) -> None:
    store.insert(
        "erasures",
        ("org", "namespace", "erase_id", "key_hash", "memory_ids", "step", "counts", "at", "answer_keys", "ver"),
        [[scope.org, scope.namespace, erasure.erase_id, erasure.key_hash, list(erasure.memory_ids), erasure.step,
          json.dumps(erasure.counts, sort_keys=True), erasure.at, list(erasure.answer_keys), clock.now()]],
    )  # fmt: skip


def _read(store: Store, scope: Scope) -> list[Erasure]:
    return [
        Erasure(id_, hashed, ids, step, json.loads(counts), at, answers)
        for id_, hashed, ids, step, counts, at, answers in store.rows(
            sql("erase.unfinished"), org=scope.org, namespace=scope.namespace, swept=SWEPT
        )
    ]
