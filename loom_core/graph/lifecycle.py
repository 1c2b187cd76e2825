"""The life of a memory key's row versions: when each is superseded, deleted and restored.

Everything is ordered by when Loom learned it: a version at its arrival, an event at its instant, a
supersession by another key at the naming row's arrival. It takes effect in valid time at its own instant: a
version at its start (`valid_at`, else arrival), so a row that is backdated or dated ahead supersedes from
that date on (D11).

What is learned later decides: it retires every earlier version of the key from its own effect on. So at
each instant at most one version of a key is there, also after an Undo: a restore retires the version it
replaces (`memory.get` answers the restored one, D12), which stays in the history and can be restored in
turn. Undo across keys retires nothing: "The other value closes, and its row stays live" is then the slot's
affair (`slots`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from loom_core.graph.intervals import Interval, bound, joined, stretch, unheld

Status = Literal["live", "superseded", "deleted"]
EventKind = Literal["delete", "restore", "supersede"]


@dataclass(frozen=True, slots=True)
class Version:
    """A row version of one key. Instants in UTC microseconds."""

    memory_id: str
    arrival: int
    valid_at: int | None = None
    valid_to: int | None = None

    @property
    def start(self) -> int:
        """`valid_at`, else the arrival (D4)."""
        return self.arrival if self.valid_at is None else self.valid_at


@dataclass(frozen=True, slots=True)
class KeyEvent:
    """Something that happened to a key other than a new version. Instants in UTC microseconds.

    `memory_id`: the version a restore brings back; the row of another key that names this key in
    `supersedes`. `start`: where that row starts; its arrival is `at`. An event of an erased row is not an
    input any more (D11).
    """

    event_id: str
    kind: EventKind
    at: int
    memory_id: str = ""
    start: int | None = None


class Tenure(NamedTuple):
    """Time in which nothing has retired a row version: [since, until), None where there is no bound.

    `by` is the row that superseded it, whose statements it may hand over to; None where none does: a
    delete, an Undo of another version of the key, or no end. `then`: where that row is another key's, the
    next thing that happened to this key. A backdated row can leave a restored tenure with no time at all.
    """

    since: int | None
    until: int | None
    by: str | None
    then: int | None = None


@dataclass(frozen=True, slots=True)
class RowHistory:
    """The life of one row version. Instants in UTC microseconds."""

    memory_id: str
    lineage: str
    """The same for all versions of one key: the id of the first."""
    arrival: int
    valid_at: int | None
    valid_to: int | None
    status: Status
    tenures: tuple[Tenure, ...]
    restored: tuple[int, ...]
    """When it was restored, ascending: also while it was live."""

    @property
    def start(self) -> int:
        """`valid_at`, else the arrival (D4)."""
        return self.arrival if self.valid_at is None else self.valid_at

    @property
    def live(self) -> bool:
        """Whether it is neither superseded, by its key or another, nor deleted."""
        return self.status == "live"

    @property
    def spans(self) -> tuple[Interval, ...]:
        """When its pairs hold (D47): from its start to its own `valid_to` or to where it is superseded or
        deleted.

        "The restored version's edges hold again from the restore. A row's end already past is lifted from its
        pairs too" (D12). At least one span, of no length where the row held at no instant.
        """
        start, end = self.start, self.valid_to
        lifted = None if end is None else next((at for at in self.restored if at >= end), None)
        parts = []
        for since, until, *_ in self.tenures:
            begin = start if since is None else max(start, since)
            parts.append(stretch(begin, bound(until), end))
            if lifted is not None:
                parts.append(stretch(max(begin, lifted), bound(until), None))
        return joined(part for part in parts if part) or (unheld(start, end),)


class _Step(NamedTuple):
    """A version or an event of a key, in the order Loom learned it; at the same instant versions come
    first."""

    learned: int
    is_event: bool
    step_id: str
    kind: Literal["version", "delete", "restore", "supersede"]
    effect: int
    memory_id: str

    def begins_tenure(self) -> bool:
        return self.kind in ("version", "restore")


def lifecycles(versions: Sequence[Version], events: Iterable[KeyEvent]) -> dict[str, RowHistory]:
    """The life of every version of ONE key, by memory id; in whatever order versions and events are given.

    A restore of a version that is not among `versions`, or had not arrived, is left out.
    """
    if not versions:
        return {}
    steps = _steps(versions, events)
    if len(steps) == 1:
        (only,) = versions
        alone = (Tenure(None, None, None),)
        return {
            only.memory_id: RowHistory(
                only.memory_id, only.memory_id, only.arrival, only.valid_at, only.valid_to, "live", alone, ()
            )
        }
    lineage = next(step.memory_id for step in steps if step.kind == "version")
    status = _statuses(steps)
    restored: dict[str, list[int]] = {}
    for step in steps:
        if step.kind == "restore":
            restored.setdefault(step.memory_id, []).append(step.learned)
    tenures = _tenures(steps)
    return {
        version.memory_id: RowHistory(
            version.memory_id, lineage, version.arrival, version.valid_at, version.valid_to,
            status[version.memory_id], tuple(tenures[version.memory_id]),
            tuple(restored.get(version.memory_id, ())),
        )
        for version in versions
    }  # fmt: skip


def current(versions: Sequence[Version], events: Iterable[KeyEvent]) -> str | None:
    """The version that `memory.get` answers: the last that was written or restored; None once it is deleted.

    A version that another key superseded is still the one (D43).
    """
    steps = _steps(versions, events)
    shown = list(_shown(steps))
    if not shown or _statuses(steps)[shown[-1]] == "deleted":
        return None
    return shown[-1]


def restore_target(
    versions: Sequence[Version], events: Iterable[KeyEvent], *, values_current: bool = True
) -> str | None:
    """The version a restore without a target brings back (D12); None where nothing is earlier (D43).

    A key without a live version gets back the one that was deleted or superseded by another key; otherwise
    "the version that was live before the one that is". A first version that is live is its own target where
    not all its values are current (`values_current`): that is the Undo of a value that another key's row
    closed.
    """
    steps = _steps(versions, events)
    shown = list(_shown(steps))
    if not shown:
        return None
    if _statuses(steps)[shown[-1]] != "live":
        return shown[-1]
    earlier = next((id_ for id_ in reversed(shown) if id_ != shown[-1]), None)
    return earlier if earlier or values_current else shown[-1]


def history_to_json(history: RowHistory) -> str:
    """A compact text that `history_from_json` reads back; equal histories give equal texts."""
    fields = (
        history.memory_id, history.lineage, history.arrival, history.valid_at, history.valid_to,
        history.status, history.tenures, history.restored,
    )  # fmt: skip
    return json.dumps(fields, separators=(",", ":"))


def history_from_json(text: str) -> RowHistory:
    """The history that `history_to_json` wrote."""
    fields: list[Any] = json.loads(text)
    memory_id, lineage, arrival, valid_at, valid_to, status, tenures, restored = fields
    return RowHistory(
        memory_id, lineage, arrival, valid_at, valid_to, status,
        tuple(Tenure(*each) for each in tenures), tuple(restored),
    )  # fmt: skip


def _steps(versions: Iterable[Version], events: Iterable[KeyEvent]) -> list[_Step]:
    arrivals = {version.memory_id: version.arrival for version in versions}
    steps = [_Step(v.arrival, False, v.memory_id, "version", v.start, v.memory_id) for v in versions]
    for event in events:
        if event.kind == "restore" and arrivals.get(event.memory_id, event.at + 1) > event.at:
            continue
        effect = event.start if event.kind == "supersede" and event.start is not None else event.at
        steps.append(_Step(event.at, True, event.event_id, event.kind, effect, event.memory_id))
    return sorted(steps)


def _shown(steps: Iterable[_Step]) -> Iterator[str]:
    """The versions `memory.get` has answered, one after the other."""
    return (step.memory_id for step in steps if step.begins_tenure())


def _statuses(steps: Iterable[_Step]) -> dict[str, Status]:
    status: dict[str, Status] = {}
    shown: str | None = None
    for step in steps:
        if step.begins_tenure():
            if shown is not None and status[shown] == "live":
                status[shown] = "superseded"
            shown = step.memory_id
            status[shown] = "live"
        elif shown is not None:
            if step.kind == "delete":
                status[shown] = "deleted"
            elif status[shown] == "live":
                status[shown] = "superseded"
    return status


def _tenures(steps: Sequence[_Step]) -> dict[str, list[Tenure]]:
    """Every version's tenures: each ends at the earliest effect among the steps learned after it began.

    Of several with the same effect the one learned first ends it.
    """
    ending: list[int | None] = [None] * len(steps)
    earliest: int | None = None
    for place in reversed(range(len(steps))):
        ending[place] = earliest
        if earliest is None or steps[place].effect <= steps[earliest].effect:
            earliest = place
    tenures: dict[str, list[Tenure]] = {}
    ended_at: dict[str, int | None] = {}
    for place, step in enumerate(steps):
        if not step.begins_tenure():
            continue
        own = tenures.setdefault(step.memory_id, [])
        since = None if step.kind == "version" else step.effect
        if own and ended_at[step.memory_id] == place:  # restored while it was live: the tenure goes on
            since = own.pop().since
        own.append(_tenure(since, steps, ending, ending[place]))
        ended_at[step.memory_id] = ending[place]
    return tenures


def _tenure(
    since: int | None, steps: Sequence[_Step], ending: Sequence[int | None], end: int | None
) -> Tenure:
    if end is None:
        return Tenure(since, None, None)
    step, following = steps[end], ending[end]
    if step.kind == "supersede":
        then = None if following is None else steps[following].effect
        return Tenure(since, step.effect, step.memory_id, then)
    return Tenure(since, step.effect, step.memory_id if step.kind == "version" else None)
