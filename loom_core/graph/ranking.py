"""Which value of a slot is the current one, from instant to instant (D8, D9)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from loom_core.graph.handover import Stand
from loom_core.graph.intervals import FOREVER, Interval, optional

DAY = 86_400_000_000
"""Microseconds. "The day they start" is the UTC day (D5)."""


class Rank(NamedTuple):
    """What statements are compared by, the greatest first to be current (D8).

    `tense` and `day` are what they are at an instant: an Undo lifts those of all statements of a row to the
    same. `written` and `started` are what they were: so a row that says both where its writer lived and where
    they live gets back the latter.
    """

    tense: int
    """0 for an undated value in the past tense that was not restored, else 1."""
    day: int
    arrival: int
    written: int
    started: int
    position: int
    memory_id: str


class Contender(NamedTuple):
    """A statement that ranks over [since, until).

    `floored`: it arrived after an Undo and starts on an earlier day, so that its day is that of the last Undo
    before its arrival, as far as time has come; `rank.day` is then not used.
    """

    since: int
    until: int
    object: str
    rank: Rank
    floored: bool


class Times:
    """When a value is current: disjoint times with a gap between any two, in order."""

    def __init__(self) -> None:
        self.begins: list[int] = []
        self.ends: list[int] = []
        self._spans: list[Interval] = []

    def begin(self, instant: int) -> None:
        """The value becomes current."""
        self.begins.append(instant)

    def end(self, instant: int) -> None:
        """It ceases to be."""
        self.ends.append(instant)
        self._spans.append(Interval(self.begins[-1], None, optional(instant)))

    def within(self, since: int, until: int) -> list[Interval]:
        """The times within [since, until). All but the first and the last are shared, not made anew."""
        first, past = bisect_right(self.ends, since), bisect_left(self.begins, until)
        spans = self._spans[first:past]
        if spans and self.begins[first] < since:
            spans[0] = Interval(since, None, spans[0].invalid_at)
        if spans and self.ends[past - 1] > until:
            spans[-1] = Interval(spans[-1].valid_from, None, until)
        return spans


def current_times(stands: Iterable[Stand], undos: Iterable[int]) -> dict[str, Times]:
    """When each value is the current one: that of the highest-ranked statement of those that stand (D9).

    A statement that has reached its end still ranks (D10). `undos`: every restore of a row of the slot.
    """
    floors = sorted(set(undos))
    contenders = sorted((each for stand in stands for each in _contenders(stand, floors)), key=_since)
    places = _places(contenders)
    instants = sorted({at for each in contenders for at in (each.since, each.until)}.union(floors))
    plain: list[tuple[int, int]] = []
    floored: list[tuple[int, int]] = []
    times: dict[str, Times] = defaultdict(Times)
    holder: str | None = None
    entering = 0
    for instant in instants:
        while entering < len(contenders) and contenders[entering].since <= instant:
            heappush(floored if contenders[entering].floored else plain, (-places[entering], entering))
            entering += 1
        leading = []
        for heap in (plain, floored):
            while heap and contenders[heap[0][1]].until <= instant:
                heappop(heap)
            if heap:
                leading.append(contenders[heap[0][1]])
        best = _best(leading, instant, floors)
        if best != holder:
            if holder is not None:
                times[holder].end(instant)
            if best is not None:
                times[best].begin(instant)
            holder = best
    return times


def _best(leading: Sequence[Contender], instant: int, undos: Sequence[int]) -> str | None:
    if len(leading) < 2:
        return leading[0].object if leading else None
    return max(leading, key=lambda each: _rank_at(each, instant, undos)).object


def _since(contender: Contender) -> int:
    return contender.since


def _contenders(stand: Stand, undos: Sequence[int]) -> Iterator[Contender]:
    claim = stand.claim
    statement, row = claim.statement, claim.row
    day = claim.start // DAY
    tense = 0 if statement.past and statement.own_start is None else 1
    if stand.restored is not None:
        lifted = max(day, stand.restored // DAY)
        rank = Rank(1, lifted, stand.restored, tense, day, statement.position, row.memory_id)
        yield Contender(stand.since, stand.until, statement.object, rank, False)
        return
    rank = Rank(tense, day, row.arrival, tense, day, statement.position, row.memory_id)
    first = bisect_left(undos, (day + 1) * DAY)
    floor = undos[first] if first < len(undos) and undos[first] < row.arrival else FOREVER
    if stand.since < floor:
        yield Contender(stand.since, min(stand.until, floor), statement.object, rank, False)
    if floor < stand.until:
        yield Contender(max(stand.since, floor), stand.until, statement.object, rank, True)


def _places(contenders: Sequence[Contender]) -> list[int]:
    """Each contender's place by rank, to be compared within the floored and within the others.

    Of two floored ones the later to arrive has the later floor, or the same and then wins by its arrival: so
    their days need not be known to order them, at any instant.
    """
    keys = [each.rank._replace(day=0) if each.floored else each.rank for each in contenders]
    places = [0] * len(contenders)
    for place, n in enumerate(sorted(range(len(contenders)), key=keys.__getitem__)):
        places[n] = place
    return places


def _rank_at(contender: Contender, instant: int, undos: Sequence[int]) -> Rank:
    if not contender.floored:
        return contender.rank
    undo = undos[bisect_right(undos, min(instant, contender.rank.arrival - 1)) - 1]
    return contender.rank._replace(day=undo // DAY)
