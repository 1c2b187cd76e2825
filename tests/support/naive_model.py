"""The rules of time once more, as slow and as literal as can be: what holds is asked anew for every instant.

Written apart from `loom_core.graph` and sharing nothing with it but the histories: no sweep, no intervals, no
merging. Each method quotes the ruling it reads. Random histories are run through both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

from loom_core.graph.handover import Statement
from tests.support.histories import History, Row

DAY = 86_400_000_000


@dataclass(frozen=True)
class Step:
    """A version, or an event, of one key: when it was learned, from when on it has its effect."""

    learned: int
    order: tuple[int, str]
    kind: str
    effect: int
    row: Row | None


class NaiveModel:
    """Answers for single instants."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.rows = {row.memory_id: row for row in history.rows}
        self._steps = {row.key: self._learned(row.key) for row in history.rows}

    # -- row versions ---------------------------------------------------------------------------------------

    def steps(self, key: str) -> list[Step]:
        """Everything that happened to a key, in the order it was learned."""
        return self._steps[key]

    def _learned(self, key: str) -> list[Step]:
        steps = [
            Step(row.arrival, (0, row.memory_id), "set", row.start, row)
            for row in self.history.rows
            if row.key == key
        ]
        for event in self.history.events:
            target = self.rows.get(event.memory_id)
            if event.key == key and (event.kind == "delete" or (target and target.arrival <= event.at)):
                steps.append(Step(event.at, (1, event.event_id), event.kind, event.at, target))
        for row in self.history.rows:
            if key in row.supersedes and row.key != key:
                steps.append(Step(row.arrival, (1, f"s:{row.memory_id}:{key}"), "supersede", row.start, row))
        return sorted(steps, key=lambda step: (step.learned, *step.order))

    def pairs_hold(self, row: Row, instant: int) -> bool:
        """D47: from the row's start, until its version is superseded or deleted, again from a restore."""
        if instant < row.start:
            return False
        there = False
        for step in self.steps(row.key):
            if step.row is row and step.kind in ("set", "restore"):
                there = there or step.kind == "set" or step.effect <= instant
            elif step.effect <= instant:
                there = False
        return there and not self.over(row.valid_to, row, instant)

    def over(self, end: int | None, row: Row, instant: int) -> bool:
        """D2; D12: a restore "lifts [...] an end already past"."""
        lifted = end is not None and any(end <= undo <= instant for undo in self.undos(row))
        return end is not None and instant >= end and not lifted

    def undos(self, row: Row) -> list[int]:
        """When the version was restored."""
        return [step.effect for step in self.steps(row.key) if step.kind == "restore" and step.row is row]

    # -- what a statement's row grants it -------------------------------------------------------------------

    def tenures(self, row: Row) -> list[int]:
        """Places, in the key's steps, of the version's arrival and of its restores."""
        return [
            n
            for n, step in enumerate(self.steps(row.key))
            if step.row is row and step.kind in ("set", "restore")
        ]

    def ender(self, row: Row, place: int) -> tuple[int, Step] | None:
        """D11: of all that was learned later, what takes effect first."""
        later = list(enumerate(self.steps(row.key)))[place + 1 :]
        return min(later, key=lambda each: (each[1].effect, each[0]), default=None)

    def goes_on(self, row: Row, place: int) -> int | None:
        """The restore that found the version live, so that the tenure goes on."""
        end = self.ender(row, place)
        return end[0] if end and end[1].kind == "restore" and end[1].row is row else None

    def since(self, row: Row, place: int) -> float:
        """Since when the version has stood without a gap."""
        if self.steps(row.key)[place].kind == "set":
            return -inf
        before = [n for n in self.tenures(row) if self.goes_on(row, n) == place]
        return self.since(row, before[0]) if before else self.steps(row.key)[place].effect

    def retired(self, row: Row, object_: str, place: int) -> float:
        """D11, D41: where the tenure ends for a statement of `object_`."""
        goes_on = self.goes_on(row, place)
        following = [n for n in self.tenures(row) if n > place]
        if goes_on is not None:
            result = self.retired(row, object_, goes_on)
        else:
            end = self.ender(row, place)
            result = self.handed_over(row, object_, *end) if end else inf
            if following:
                restore = self.steps(row.key)[following[0]].effect
                result = min(result, restore, self.retired(row, object_, following[0]))
        return result

    def handed_over(self, row: Row, object_: str, place: int, end: Step) -> float:
        """D11: at the new row's start; "one that is attested hands over": "ends where the new one's starts"."""
        by = end.row
        if end.kind not in ("set", "supersede") or by is None or not self.stated(by, object_):
            return end.effect
        begin = self.begin(by, object_)
        if begin <= end.effect:
            return begin
        following = self.ender(row, place) if end.kind == "supersede" else None
        begin = min(begin, following[1].effect) if following else begin
        if (by.arrival, by.memory_id) < (row.arrival, row.memory_id):
            return begin
        first = self.tenures(by)[0]
        return min(begin, self.retired(by, object_, first), self.said_again(by, object_, by.arrival))

    def said_again(self, row: Row, object_: str, learned: int) -> float:
        """D41: "two versions of one key count once: the old one's observation ends where the new one's starts"; an
        Undo of another version says it again as well."""
        arrived = [
            self.begin(other, object_)
            for other in self.history.rows
            if other.key == row.key and other.arrival > learned and self.stated(other, object_)
        ]
        restored = [
            max(step.effect, self.begin(step.row, object_))
            for step in self.steps(row.key)
            if step.kind == "restore" and step.learned > learned and step.row is not row
            if step.row is not None and self.stated(step.row, object_)
        ]
        return min(arrived + restored, default=inf)

    def stands(self, row: Row, object_: str, instant: int) -> bool:
        """Unretired at `instant`."""
        steps = self.steps(row.key)
        for place in self.tenures(row):
            begin = -inf if steps[place].kind == "set" else steps[place].effect
            following = [self.steps(row.key)[n].effect for n in self.tenures(row) if n > place]
            end = min(self.retired(row, object_, place), self.said_again(row, object_, steps[place].learned))
            if begin <= instant < min([end, *following]):
                return True
        return False

    # -- statements -----------------------------------------------------------------------------------------

    def stated(self, row: Row, object_: str) -> list[Statement]:
        return [statement for statement in row.statements if statement.object == object_]

    def begin(self, row: Row, object_: str) -> int:
        return min(self.start(row, statement)[0] for statement in self.stated(row, object_))

    def start(self, row: Row, statement: Statement) -> tuple[int, bool]:
        """D4; D11: "without a date of its own it keeps the old start". And whether it was stated as a date."""
        if statement.own_start is not None:
            return statement.own_start, True
        kept = self.kept_starts(row, statement.object)
        if not kept:
            return row.start, False
        start, dated = min(kept)
        return (start if dated or row.valid_at is None else min(start, row.valid_at)), dated

    def kept_starts(self, row: Row, object_: str) -> list[tuple[int, bool]]:
        kept = []
        for other in self.history.rows:
            if (other.arrival, other.memory_id) >= (row.arrival, row.memory_id):
                continue
            for place in self.tenures(other):
                end = self.ender(other, place)
                if end and end[1].row is row and end[1].kind in ("set", "supersede"):
                    for statement in self.stated(other, object_):
                        if not self.over(self.end(other, statement), other, end[1].effect):
                            start, dated = self.start(other, statement)
                            gap = self.gap(self.end(other, statement), other, end[1].effect)
                            kept.append((int(max(start, self.since(other, place), gap)), dated))
        return kept

    def gap(self, end: int | None, row: Row, instant: int) -> float:
        """The Undo that lifted an end, if it had been past by then: nothing was handed on from before it."""
        if end is None or end > instant:
            return -inf
        lifted = min(undo for undo in self.undos(row) if undo >= end)
        return lifted if lifted > end else -inf

    def end(self, row: Row, statement: Statement) -> int | None:
        """D4: "its own end, else the row's `valid_to`, else none"."""
        return row.valid_to if statement.own_end is None else statement.own_end

    def bounded(self, row: Row, statement: Statement, instant: int) -> bool:
        """Whether the statement has an end, that no restore so far has lifted."""
        end = self.end(row, statement)
        return end is not None and not any(end <= undo <= instant for undo in self.undos(row))

    def contends(self, row: Row, statement: Statement, instant: int) -> bool:
        """Started and not retired; one that ends by its own start never does."""
        start, end = self.start(row, statement)[0], self.end(row, statement)
        if self.bounded(row, statement, instant) and end is not None and end <= start:
            return False
        return start <= instant and self.stands(row, statement.object, instant)

    # -- the slot -------------------------------------------------------------------------------------------

    def rank(self, row: Row, statement: Statement, instant: int) -> tuple[int | str, ...]:
        """D8 and D12."""
        day = self.start(row, statement)[0] // DAY
        tense = 0 if statement.past and statement.own_start is None else 1
        within = (tense, day, statement.position, row.memory_id)
        undone = [undo for undo in self.undos(row) if undo <= instant]
        if undone:
            return 1, max(day, max(undone) // DAY), max(undone), *within
        before = [undo // DAY for undo in self.slot_undos if undo <= instant and undo < row.arrival]
        return tense, max([day, *before]), row.arrival, *within

    @cached_property
    def slot_undos(self) -> list[int]:
        return [undo for row in self.history.rows if row.statements for undo in self.undos(row)]

    def current(self, instant: int) -> str | None:
        """D9: the value of the highest-ranked statement among those started and not retired."""
        contending = [
            (self.rank(row, statement, instant), statement.object)
            for row in self.history.rows
            for statement in row.statements
            if self.contends(row, statement, instant)
        ]
        return max(contending)[1] if contending else None

    def holding(self, instant: int, cardinality: str) -> set[tuple[str, str]]:
        """The observations, (memory id, value), that hold at `instant`: D9, and D10 for those with an end."""
        current = self.current(instant) if cardinality == "one" else None
        return {
            (row.memory_id, statement.object)
            for row in self.history.rows
            for statement in row.statements
            if self.contends(row, statement, instant)
            and not self.over(self.end(row, statement), row, instant)
            and (
                cardinality == "many" or statement.object == current or self.bounded(row, statement, instant)
            )
        }
