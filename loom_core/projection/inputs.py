"""Reads the inputs: everything known of some keys, and what operators decided for their namespace."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loom_core.memory.rows import COLUMNS, MemoryRow, key_hash, row_from
from loom_core.projection.units import ERASURE_WEIGHT, version
from loom_core.storage.statements import sql
from loom_core.storage.store import Store, in_chunks
from loom_core.tenancy import Scope

CHUNK = 2_000
"""Keys or ids a query: a list of this many stays well under the server's limits on a parameter."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event on a key, as stored; instants in UTC microseconds."""

    event_id: str
    kind: str
    memory_id: str
    at: int
    start: int
    erased_ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class StoredExtraction:
    """What an extractor returned for a row version."""

    extractor: str
    prompt_version: str
    result: str
    at: int


@dataclass(slots=True)
class KeyInputs:
    """All inputs of one key. Erased versions and their extractions are left out, erasures are counted."""

    memory_key: str
    rows: list[MemoryRow] = field(default_factory=list)
    events: list[StoredEvent] = field(default_factory=list)
    extractions: dict[str, StoredExtraction] = field(default_factory=dict)
    erased_ids: frozenset[str] = frozenset()

    def seen(self) -> int:
        """How many inputs these are. An erasure outweighs the inputs it took away, so that this never falls."""
        weights = sum(ERASURE_WEIGHT if event.kind == "erase" else 1 for event in self.events)
        return len(self.rows) + len(self.extractions) + weights

    def told(self) -> list[StoredEvent]:
        """The events that count: without erasures, and without what a row of another key said that was erased."""
        void = {event.memory_id for event in self.events if event.kind == "void"}
        return [
            event
            for event in self.events
            if event.kind in ("delete", "restore")
            or (event.kind == "supersede" and event.memory_id not in void)
        ]

    def head(self) -> str:
        """The id of the latest version or event: what the next version builds on."""
        landed = [(row.arrival, row.memory_id) for row in self.rows]
        landed += [(event.at, event.event_id) for event in self.events]
        return max(landed)[1] if landed else ""

    def version(self, revision: int) -> int:
        """The version of the graph rows projected from these inputs."""
        return version(self.seen() + revision, (row.arrival for row in self.rows))


@dataclass(frozen=True, slots=True)
class Expiry:
    """`facts.expire_by_adapter`: statements of `adapter_name`, made by then, never were (D28)."""

    adapter_name: str
    max_confidence: float
    at: int

    def covers(self, adapter_name: str, confidence: float, stated_at: int) -> bool:
        """Whether a statement falls under it: strictly below the ceiling; 1.0 is no ceiling."""
        below = self.max_confidence >= 1.0 or confidence < self.max_confidence
        return adapter_name == self.adapter_name and below and stated_at <= self.at


@dataclass(frozen=True, slots=True)
class NamespaceContext:
    """What operators decided for a namespace."""

    aliases: Mapping[str, str]
    ontologies: Sequence[Mapping[str, Any]]
    expiries: Sequence[Expiry]
    revision: int

    def node(self, entity: str) -> str:
        """The node that a canonical entity stands for: aliases followed to the end of the chain (D21)."""
        if entity not in self.aliases:
            return entity
        seen = {entity}
        while (target := self.aliases.get(entity)) is not None and target not in seen:
            seen.add(target)
            entity = target
        return entity

    def expired(self, adapter_name: str, confidence: float, stated_at: int) -> bool:
        """Whether an operator expired such a statement."""
        return any(expiry.covers(adapter_name, confidence, stated_at) for expiry in self.expiries)


def read_context(store: Store, scope: Scope) -> NamespaceContext:
    """The namespace's aliases, ontologies (oldest first) and expiries as they are now."""
    aliases: dict[str, str] = {}
    ontologies: list[Mapping[str, Any]] = []
    expiries: list[Expiry] = []
    lines = store.rows(sql("inputs.context"), org=scope.org, namespace=scope.namespace)
    for source, name, payload, at, _ in lines:
        if source == "alias":
            aliases[name] = payload
        elif name == "ontology":
            ontologies.append(json.loads(payload))
        elif name == "expire":
            stated = json.loads(payload)
            expiries.append(Expiry(stated["adapter_name"], stated["max_confidence"], at))
    live = {alias: entity for alias, entity in aliases.items() if entity}
    return NamespaceContext(live, ontologies, expiries, len(lines))


def read_keys(store: Store, scope: Scope, keys: Iterable[str]) -> dict[str, KeyInputs]:
    """The inputs of each key, erased versions left out; a key without any is there, empty."""
    inputs = {key: KeyInputs(key) for key in keys}
    by_hash = {key_hash(scope.org, scope.namespace, key): key for key in inputs}
    names = {"org": scope.org, "namespace": scope.namespace}
    for hashes in in_chunks(list(by_hash), CHUNK):
        for line in store.rows(sql("inputs.events"), hashes=list(hashes), **names):
            hashed, event_id, kind, _, memory_id, at, start, erased_ids = line
            event = StoredEvent(event_id, kind, memory_id, at, start, erased_ids)
            inputs[by_hash[hashed]].events.append(event)
    for each in inputs.values():
        each.events.sort(key=lambda event: (event.at, event.event_id))
        each.erased_ids = frozenset(id_ for event in each.events for id_ in event.erased_ids)
    select = sql("inputs.rows").format(columns=", ".join(COLUMNS))
    for chunk in in_chunks(list(inputs), CHUNK):
        for values in store.rows(select, keys=list(chunk), **names):
            row = row_from(values)
            if row.memory_id not in inputs[row.memory_key].erased_ids:
                inputs[row.memory_key].rows.append(row)
    _read_extractions(store, names, inputs)
    for each in inputs.values():
        each.rows.sort(key=lambda row: (row.arrival, row.memory_id))
    return inputs


def _read_extractions(store: Store, names: Mapping[str, str], inputs: Mapping[str, KeyInputs]) -> None:
    untagged = {
        row.memory_id: each for each in inputs.values() for row in each.rows if not row.entities_given
    }
    for ids in in_chunks(list(untagged), CHUNK):
        for memory_id, *stored in store.rows(sql("inputs.extractions"), ids=list(ids), **names):
            untagged[memory_id].extractions[memory_id] = StoredExtraction(*stored)


def unchanged(store: Store, scope: Scope, inputs: Mapping[str, KeyInputs], revision: int) -> bool:
    """Whether nothing has landed on these keys or their namespace since `inputs` was read.

    A projector asks this after it wrote. Whoever lands something projects it after it landed, and so reads what
    was written before; whoever wrote before it landed is told here to look again. One of the two always sees both.
    """
    names = {"org": scope.org, "namespace": scope.namespace}
    if store.rows(sql("inputs.revision"), **names)[0][0] != revision:
        return False
    for keys in in_chunks(list(inputs), CHUNK):
        some = [inputs[key] for key in keys]
        seen, arrived = store.rows(
            sql("inputs.seen"),
            keys=list(keys),
            hashes=[key_hash(scope.org, scope.namespace, key) for key in keys],
            erased=[id_ for each in some for id_ in each.erased_ids],
            **names,
        )[0]
        if seen != sum(len(each.rows) + len(each.events) for each in some):
            return False
        # Equal content written by two at once is one row, and the earlier arrival is the row's.
        if arrived != sum(row.arrival for each in some for row in each.rows):
            return False
        ids = [row.memory_id for each in some for row in each.rows if not row.entities_given]
        if ids:
            extracted = store.rows(sql("inputs.seen_extractions"), ids=ids, **names)[0][0]
            if extracted != sum(len(each.extractions) for each in some):
                return False
    return True
