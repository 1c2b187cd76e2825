"""What each statement of a slot holds, and when: one pure function of all of them ("Supersession closes
triples").

For a relation of cardinality `one`, all statements of (subject, relation) decide together, at every
instant, which value is current (D6, D9); no statement closes another on its own. So the order in which rows
are projected, how often each is, and what has been erased or expired since make no difference (D13).

How the page's sentences are met:

- "Values order by the day they start (an undated value starts when it arrives), then by arrival to the
  microsecond [...] Within one write, the later-stated value is newer": the rank (D8).
- "Within one write, an undated value in the past tense is older than a dated one, in either order": rank
  class 0.
- "A value is judged at its newest row": the highest-ranked statement of all decides, not the last to arrive
  (D9).
- "A write that states the older value again while that close runs keeps it open": the later statement ranks
  higher on the same day, and every started, unretired statement of the current value holds.
- "A value stated with its own end is never closed early": it holds to its end beside the current value
  (D10), and still ranks afterwards.
- "An Undo makes the restored value current from the restore on, or from the fact's own later start": it
  ranks anew from the restore (D12). "A value dated on a later day still wins, and so does a value stated
  after the Undo": the latter ranks, from the Undo on, at no earlier day than the Undo.
- "A failed close is replayed as of the write or Undo that made it": nothing here knows when it is evaluated.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Literal, NamedTuple

from loom_core.graph.handover import Claim, Key, Stand, Statement, claims_of, stands_of
from loom_core.graph.intervals import FOREVER, Interval, bound, joined, stretch, unheld
from loom_core.graph.lifecycle import RowHistory

__all__ = ["Cardinality", "Interval", "Statement", "derive"]

Cardinality = Literal["one", "many"]
DAY = 86_400_000_000
"""Microseconds. "The day they start" is the UTC day (D5)."""

Rank = tuple[int, int, int, int, str]
"""(0 for an undated value in the past tense, else 1; day of the start; arrival; position; row's id): D8."""


class Contender(NamedTuple):
    """A statement that ranks over [since, until).

    `floored`: it arrived after an Undo and starts on an earlier day, so that its day is that of the last Undo
    before its arrival, as far as time has come; the day in `rank` is then not used.
    """

    since: int
    until: int
    object: str
    rank: Rank
    floored: bool


def derive(
    statements: Iterable[Statement], rows: Mapping[str, RowHistory], cardinality: Cardinality
) -> dict[Key, tuple[Interval, ...]]:
    """The disjoint intervals in which each observation, (memory id, object), holds.

    `statements`: all of a slot, or of one triple where the cardinality is `many`, from all rows that are
    not erased, without those that were expired. `rows`: the life of each of their rows. Every observation
    gets at least one interval, of no length where it held at no instant. Takes n log n for n statements and
    Undos, beyond the size of what it returns. Raises KeyError for a statement whose row has no history.
    """
    claims = claims_of(statements, rows)
    stands = stands_of(claims)
    current = _current(claims, stands) if cardinality == "one" else {}
    return {
        key: joined(_held(stands[key], cardinality, current.get(key[1], _NEVER))) or (_unheld(group),)
        for key, group in claims.items()
    }


Times = tuple[list[int], list[int]]
_NEVER: Times = ([], [])


def _unheld(group: Sequence[Claim]) -> Interval:
    first = min(group, key=lambda claim: (claim.start, bound(claim.end)))
    return unheld(first.start, first.end)


def _held(stands: Iterable[Stand], cardinality: Cardinality, current: Times) -> Iterable[Interval]:
    """Where the statements hold: all the time they stand if nothing can close them, else while theirs is
    current."""
    begins, ends = current
    for stand in stands:
        if cardinality == "many" or stand.end is not None:
            if held := stretch(stand.since, stand.until, stand.end):
                yield held
            continue
        place = bisect_right(ends, stand.since)
        while place < len(begins) and begins[place] < stand.until:
            if held := stretch(max(begins[place], stand.since), min(ends[place], stand.until), None):
                yield held
            place += 1


def _current(
    claims: Mapping[Key, Sequence[Claim]], stands: Mapping[Key, Sequence[Stand]]
) -> dict[str, Times]:
    """Per value the begins and the ends of the times at which it is the current one (D9)."""
    undos = sorted({at for group in claims.values() for at in group[0].row.restored})
    contenders = sorted(
        (each for group in stands.values() for stand in group for each in _contenders(stand, undos)),
        key=lambda each: each.since,
    )
    ranking = _ranking(contenders)
    instants = sorted({at for each in contenders for at in (each.since, each.until)} | set(undos))
    plain: list[tuple[int, int]] = []
    floored: list[tuple[int, int]] = []
    times: dict[str, Times] = defaultdict(lambda: ([], []))
    holder: str | None = None
    entering = 0
    for instant in instants:
        while entering < len(contenders) and contenders[entering].since <= instant:
            heap = floored if contenders[entering].floored else plain
            heappush(heap, (-ranking[entering], entering))
            entering += 1
        for heap in (plain, floored):
            while heap and contenders[heap[0][1]].until <= instant:
                heappop(heap)
        leading = [contenders[heap[0][1]] for heap in (plain, floored) if heap]
        best = max(leading, key=lambda each: _rank_at(each, instant, undos)).object if leading else None
        if best != holder:
            if holder is not None:
                times[holder][1].append(instant)
            if best is not None:
                times[best][0].append(instant)
            holder = best
    if holder is not None:
        times[holder][1].append(FOREVER)
    return times


def _contenders(stand: Stand, undos: Sequence[int]) -> Iterable[Contender]:
    claim = stand.claim
    statement, row = claim.statement, claim.row
    day = claim.start // DAY
    if stand.restored is not None:
        rank = (1, max(day, stand.restored // DAY), stand.restored, statement.position, row.memory_id)
        yield Contender(stand.since, stand.until, statement.object, rank, False)
        return
    undated_past = statement.past and statement.own_start is None
    rank = (0 if undated_past else 1, day, row.arrival, statement.position, row.memory_id)
    first = bisect_left(undos, (day + 1) * DAY)
    floor = undos[first] if first < len(undos) and undos[first] < row.arrival else FOREVER
    if stand.since < floor:
        yield Contender(stand.since, min(stand.until, floor), statement.object, rank, False)
    if floor < stand.until:
        yield Contender(max(stand.since, floor), stand.until, statement.object, rank, True)


def _ranking(contenders: Sequence[Contender]) -> list[int]:
    """Each contender's place among all, to be compared within the floored and within the others.

    Of two floored ones the later to arrive has the later floor, or the same and then wins by its arrival:
    so the arrival alone orders them, at every instant.
    """
    keys = [(each.rank[0], 0, *each.rank[2:]) if each.floored else each.rank for each in contenders]
    order = sorted(range(len(contenders)), key=keys.__getitem__)
    places = [0] * len(order)
    for place, n in enumerate(order):
        places[n] = place
    return places


def _rank_at(contender: Contender, instant: int, undos: Sequence[int]) -> Rank:
    if not contender.floored:
        return contender.rank
    past, _, arrival, position, memory_id = contender.rank
    undo = undos[bisect_right(undos, min(instant, arrival - 1)) - 1]
    return past, undo // DAY, arrival, position, memory_id
