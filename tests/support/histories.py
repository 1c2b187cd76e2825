"""Writes the history of a few memory keys, one call a write or event, and asks the graph rules what holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from loom_core.clock import micros
from loom_core.graph.handover import Statement
from loom_core.graph.intervals import Interval
from loom_core.graph.lifecycle import KeyEvent, RowHistory, Version, lifecycles
from loom_core.graph.ontology import Cardinality
from loom_core.graph.slots import derive


def at(text: str | int | None) -> int | None:
    """`2025-03-01` or `2025-03-01T10:00`, UTC, in microseconds."""
    return micros(datetime.fromisoformat(text)) if isinstance(text, str) else text


@dataclass(frozen=True)
class Says:
    """What a row says of the slot: a value, its own dates, its tense."""

    object: str
    since: str | int | None = None
    until: str | int | None = None
    past: bool = False


@dataclass(frozen=True)
class Row:
    """One row version with what it says of the slot and the other keys it supersedes."""

    key: str
    memory_id: str
    arrival: int
    valid_at: int | None
    valid_to: int | None
    statements: tuple[Statement, ...]
    supersedes: tuple[str, ...] = ()

    @property
    def start(self) -> int:
        return self.arrival if self.valid_at is None else self.valid_at


@dataclass(frozen=True)
class Event:
    """A delete, or the restore of `memory_id`."""

    event_id: str
    key: str
    kind: str
    at: int
    memory_id: str = ""


@dataclass
class History:
    """Rows and events of several keys."""

    rows: list[Row] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def __repr__(self) -> str:
        return "\n".join(map(repr, sorted([*self.rows, *self.events], key=_learned)))

    def set(
        self, key: str, *said: Says, arrives: str | int, valid_at: str | int | None = None,
        valid_to: str | int | None = None, supersedes: Iterable[str] = (), memory_id: str | None = None,
    ) -> Row:  # fmt: skip
        """A new version of `key`."""
        id_ = memory_id or f"{key}.{len(self.versions(key)) + 1}"
        statements = tuple(
            Statement(id_, position, each.object, at(each.since), at(each.until), each.past)
            for position, each in enumerate(said)
        )
        arrival = at(arrives)
        assert arrival is not None
        row = Row(key, id_, arrival, at(valid_at), at(valid_to), statements, tuple(supersedes))
        self.rows.append(row)
        return row

    def delete(self, key: str, when: str | int) -> None:
        self._event(key, "delete", when)

    def undo(self, key: str, when: str | int, version: int = 1) -> None:
        """Restores a version of `key`."""
        self._event(key, "restore", when, self.versions(key)[version - 1].memory_id)

    def erase(self, key: str) -> History:
        """The history as it is once `key` has been erased: without a trace of it."""
        return History([row for row in self.rows if row.key != key], [e for e in self.events if e.key != key])

    def expire(self, *objects: str) -> History:
        """The history once the statements of these values have been expired; their rows stay."""
        return History(
            [
                dataclasses.replace(
                    row, statements=tuple(s for s in row.statements if s.object not in objects)
                )
                for row in self.rows
            ],
            list(self.events),
        )

    def versions(self, key: str) -> list[Row]:
        return sorted((r for r in self.rows if r.key == key), key=lambda r: (r.arrival, r.memory_id))

    def keys(self) -> list[str]:
        return sorted({row.key for row in self.rows})

    def key_events(self, key: str) -> list[KeyEvent]:
        """The events of a key as the rules take them, supersessions by other keys' rows included."""
        own = [KeyEvent(e.event_id, e.kind, e.at, e.memory_id) for e in self.events if e.key == key]
        naming = [row for row in self.rows if key in row.supersedes and row.key != key]
        return own + [
            KeyEvent(f"s:{row.memory_id}:{key}", "supersede", row.arrival, row.memory_id, row.start)
            for row in naming
        ]

    def key_versions(self, key: str) -> list[Version]:
        return [Version(r.memory_id, r.arrival, r.valid_at, r.valid_to) for r in self.versions(key)]

    def lives(self) -> dict[str, RowHistory]:
        """The life of every row version of every key."""
        return {
            id_: life
            for key in self.keys()
            for id_, life in lifecycles(self.key_versions(key), self.key_events(key)).items()
        }

    def statements(self) -> list[Statement]:
        return [statement for row in self.rows for statement in row.statements]

    def derive(self, cardinality: Cardinality = "one") -> dict[tuple[str, str], tuple[Interval, ...]]:
        return derive(self.statements(), self.lives(), cardinality)

    def values(self, instant: str | int, cardinality: Cardinality = "one") -> Mapping[str, int]:
        """The values that hold at `instant`, each with the number of row versions it holds for."""
        when, found = at(instant), dict[str, int]()
        assert when is not None
        for (_, object_), spans in sorted(self.derive(cardinality).items()):
            if any(span.holds_at(when) for span in spans):
                found[object_] = found.get(object_, 0) + 1
        return found

    def _event(self, key: str, kind: str, when: str | int, memory_id: str = "") -> None:
        instant = at(when)
        assert instant is not None
        self.events.append(Event(f"{kind}:{key}:{len(self.events):04}", key, kind, instant, memory_id))


def _learned(happened: Row | Event) -> tuple[int, str]:
    if isinstance(happened, Row):
        return happened.arrival, happened.memory_id
    return happened.at, happened.event_id
