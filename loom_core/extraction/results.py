"""What an extractor found in one text, and its form as stored bytes.

Stored once per row version, extractor and prompt version (D39), so that a rebuild asks no model again.
Names are surface forms: the write path canonicalises them, so a new lexicon needs no new extraction.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Entity:
    """A mention: its words in the text, a lower-case type or None, and a confidence in (0, 1]."""

    name: str
    type: str | None = None
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Relation:
    """A statement read from the text. `relation` is in stored form (`live_in`); `past` is its tense (D7).

    `valid_from` and `valid_to` are UTC and set only where the text gives the statement a date of its own.
    `extractor` is the model id that read it, the triple's `adapter_name` (D24).
    """

    subject: str
    relation: str
    object: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    past: bool = False
    confidence: float = 1.0
    extractor: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A number the text states: `value` in `unit` (a pint name, None for a bare count) as of `date` (UTC)."""

    entity: str
    attribute: str
    value: float
    unit: str | None = None
    date: datetime | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """Entities in the order first mentioned (pairs are cut in that order, D19), relations, numeric facts."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    facts: tuple[Fact, ...] = ()

    def to_json(self) -> str:
        """Compact JSON with sorted keys: the same extraction gives the same bytes."""
        return json.dumps(
            asdict(self), default=_encode, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The inverse of `to_json`. Raises ValueError or TypeError for anything else."""
        raw = json.loads(text)
        return cls(
            tuple(Entity(**item) for item in raw["entities"]),
            tuple(Relation(**_dated(item, "valid_from", "valid_to")) for item in raw["relations"]),
            tuple(Fact(**_dated(item, "date")) for item in raw["facts"]),
        )

    def credited_to(self, extractor: str) -> Extraction:
        """The same, each relation naming `extractor` as the model that read it."""
        return replace(self, relations=tuple(replace(r, extractor=extractor) for r in self.relations))


def _encode(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"no JSON form for {type(value).__name__}")


def _dated(item: Mapping[str, Any], *fields: str) -> dict[str, Any]:
    return {
        **item,
        **{f: datetime.fromisoformat(item[f]) if item.get(f) is not None else None for f in fields},
    }
