"""A row version as stored, its identity, and its text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

FIRST_WINS_TOP = 2**63 - 1


@dataclass(frozen=True, slots=True)
class StatedRelation:
    """A relation as its writer stated it; instants in UTC microseconds."""

    subject: str
    relation: str
    object: str
    valid_from: int | None = None
    valid_to: int | None = None
    confidence: float | None = None

    def plain(self) -> dict[str, Any]:
        """Its fields, as JSON takes them."""
        return dict(zip(RELATION_FIELDS, _RELATION_VALUES(self), strict=True))


RELATION_FIELDS = tuple(field.name for field in fields(StatedRelation))
_RELATION_VALUES = attrgetter(*RELATION_FIELDS)


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One version of a memory key, column by column of `loom.memory` (less the scope)."""

    memory_key: str
    memory_id: str
    head: str
    path: str
    role: str
    value: str
    content_sha256: str
    entities: Sequence[str]
    entities_given: int
    relations: str
    relations_given: int
    valid_at: int | None
    valid_to: int | None
    sensitivity: str
    tags: Sequence[str]
    confidence: float | None
    supersedes: Sequence[str]
    agent: str
    user_id: str
    session_id: str
    arrival: int

    def stated_relations(self) -> list[StatedRelation]:
        """The relations the writer declared, in order."""
        return [StatedRelation(**item) for item in json.loads(self.relations)] if self.relations else []

    def text(self) -> str:
        """The row's text: its value if that is a string, else every string in it, a line each."""
        return text_of(json.loads(self.value))


_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
COLUMNS = tuple(field.name for field in fields(MemoryRow))
_VALUES = attrgetter(*COLUMNS)


def row_from(values: Sequence[Any]) -> MemoryRow:
    """A row from values in the order of `COLUMNS`."""
    return MemoryRow(*values)


def stored(row: MemoryRow) -> list[Any]:
    """The row's values for an INSERT of `COLUMNS` and `first_wins`."""
    return [*_VALUES(row), first_wins(row.arrival)]


def first_wins(instant: int) -> int:
    """A version that falls as time grows: of equal rows ReplacingMergeTree then keeps the earliest."""
    return FIRST_WINS_TOP - instant


def digest(*parts: str, size: int = 16) -> str:
    """A hex hash of `size` bytes over parts that no joining can confuse."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    framed = b"".join([len(data).to_bytes(8, "little") + data for data in encoded])
    return hashlib.blake2b(framed, digest_size=size).hexdigest()


def key_hash(org: str, namespace: str, memory_key: str) -> str:
    """What an erasure leaves of a key."""
    return digest("key", org, namespace, memory_key)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no blanks: equal values give equal text."""
    return _CANONICAL.encode(value)


def text_of(value: Any) -> str:
    """The text in any JSON value, its strings in order; numbers count, keys of objects too."""
    return value if isinstance(value, str) else "\n".join(_strings(value))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, dict | list):
                yield key
                yield from _strings(item)
            elif item is not None:
                yield f"{key}: {item}"
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif value is not None:
        yield str(value)
