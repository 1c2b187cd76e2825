"""Which stretch of time each statement stands unretired for: row supersession, hand-over, Undo (D4, D11,
D12, D41).

"When a row supersedes another, the old row's open triples that the new one does not attest get invalid_at":
such a statement is retired at the new row's start. One that the new row attests hands over to the new row's
statement: the old observation ends where the new one starts, and a statement without a date of its own
keeps the old start, so that rewriting a row neither renews what it says nor counts it twice.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from loom_core.graph.intervals import ALWAYS, FOREVER, bound
from loom_core.graph.lifecycle import RowHistory, Tenure

Key = tuple[str, str]
"""(memory id, object): what makes one observation."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One triple as one row version states it, within a slot (D6) or, for a `many` relation, one triple.

    `position`: its place in the write; `own_start`, `own_end`: its own dates, UTC microseconds (a row's are
    in its history); `past`: stated in the past tense.
    """

    memory_id: str
    position: int
    object: str
    own_start: int | None = None
    own_end: int | None = None
    past: bool = False


class Claim(NamedTuple):
    """A statement with the start and end it has after D4 and the hand-over of D11."""

    statement: Statement
    row: RowHistory
    start: int
    end: int | None
    dated: bool
    """Whether the start is a date that was stated for the value, here or where it was handed over from."""


class Stand(NamedTuple):
    """A claim over [since, until): started and unretired. `restored` is the Undo it stands by, None before
    one."""

    claim: Claim
    since: int
    until: int
    end: int | None
    restored: int | None


def claims_of(statements: Iterable[Statement], rows: Mapping[str, RowHistory]) -> dict[Key, list[Claim]]:
    """The claims by observation, rows in order of arrival, the claims of one observation by their start.

    Raises KeyError for a statement whose row has no history.
    """
    stated: dict[Key, list[Statement]] = defaultdict(list)
    for statement in statements:
        stated[statement.memory_id, statement.object].append(statement)
    ordered = sorted(stated, key=lambda key: (rows[key[0]].arrival, key))
    predecessors = _predecessors(stated, rows)
    claims: dict[Key, list[Claim]] = {}
    for key in ordered:
        row = rows[key[0]]
        inherited = _inherited(predecessors.get(key, ()), claims)
        claims[key] = [claim_of(statement, row, inherited) for statement in stated[key]]
        if len(claims[key]) > 1:
            claims[key].sort(key=by_start)
    return claims


def _predecessors(
    stated: Iterable[Key], rows: Mapping[str, RowHistory]
) -> dict[Key, list[tuple[Key, Tenure]]]:
    """By the observation that may take over: those whose row it superseded, and the tenure this ended."""
    found: dict[Key, list[tuple[Key, Tenure]]] = defaultdict(list)
    for memory_id, object_ in stated:
        for tenure in rows[memory_id].tenures:
            if tenure.by is not None:
                found[tenure.by, object_].append(((memory_id, object_), tenure))
    return found


def _inherited(
    predecessors: Iterable[tuple[Key, Tenure]], claims: Mapping[Key, Sequence[Claim]]
) -> tuple[int, bool] | None:
    """The start that was handed over, the earliest of several, and whether it was stated as a date.

    Only what was open is handed over: a value that had ended before the new row starts is stated anew.
    """
    starts = [
        (since, claim.dated)
        for key, tenure in predecessors
        for claim in claims.get(key, ())
        if (since := _open_since(claim, tenure)) is not None
    ]
    return min(starts, default=None)


def _open_since(claim: Claim, tenure: Tenure) -> int | None:
    """Since when the claim was open as the tenure ended; None where it had reached its end by then.

    An end that was past when an Undo lifted it (D12) leaves a gap: the claim is open since the Undo only.
    """
    since, end, until = max(claim.start, _since(tenure)), claim.end, bound(tenure.until)
    if end is None or end > until:
        return since
    lifted = next((at for at in claim.row.restored if end <= at <= until), None)
    if lifted is None:
        return None
    return max(since, lifted) if lifted > end else since


def by_start(claim: Claim) -> tuple[int, int]:
    """Orders the claims of one observation."""
    return claim.start, bound(claim.end)


def claim_of(statement: Statement, row: RowHistory, inherited: tuple[int, bool] | None) -> Claim:
    """The start and end of a statement; `inherited`: the start that was handed over, and whether as a date."""
    end = row.valid_to if statement.own_end is None else statement.own_end
    if statement.own_start is not None:
        return Claim(statement, row, statement.own_start, end, dated=True)
    if inherited is None:
        return Claim(statement, row, row.start, end, dated=False)
    start, dated = inherited
    if not dated and row.valid_at is not None:
        # No value was ever dated and the new row is dated back: it holds from the source memory's valid_at.
        start = min(start, row.valid_at)
    return Claim(statement, row, start, end, dated)


def stands_of(claims: Mapping[Key, Sequence[Claim]]) -> dict[Key, list[Stand]]:
    """When each claim stands, cut at every Undo of its row. A claim that ends by its start never does."""
    begins = {key: group[0].start for key, group in claims.items()}
    restated = _Restated(claims, begins)
    retired: dict[Key, int] = {}
    stands: dict[Key, list[Stand]] = {}
    for key in reversed(list(claims)):  # latest arrival first: whoever takes over is known to whom it retires
        row = claims[key][0].row
        group: list[Stand] = []
        until = FOREVER
        for tenure in reversed(row.tenures):
            until = min(until, _handed_over(tenure, key[1], begins, retired))
            if tenure.since is None:
                retired[key] = min(until, restated.after(row.lineage, key[1], row.arrival, key[0]))
            for since, undo in reversed(_parts(tenure, until, row.restored)):
                learned = row.arrival if undo is None else undo
                stop = min(until, restated.after(row.lineage, key[1], learned, key[0]))
                group += _stands(claims[key], since, stop, undo)
                until = min(until, since)
        stands[key] = group
    return stands


def _handed_over(tenure: Tenure, object_: str, begins: Mapping[Key, int], retired: Mapping[Key, int]) -> int:
    """Where a statement of this tenure is retired.

    Where the new row attests it, at the start of the new row's statement. If that is later than the new row's
    own start, the old statement bridges the time between, as long as the new row is not retired and, where
    that is another key's, nothing happens to the old key.
    """
    until = bound(tenure.until)
    if tenure.by is None or (tenure.by, object_) not in begins:
        return until
    begin = begins[tenure.by, object_]
    if begin <= until:
        return begin
    return min(begin, retired.get((tenure.by, object_), FOREVER), bound(tenure.then))


def _parts(tenure: Tenure, until: int, restored: Sequence[int]) -> list[tuple[int, int | None]]:
    """The tenure cut at its row's restores: (since, the restore it begins with or None)."""
    since = _since(tenure)
    if not restored:
        return [(since, None)]
    undos = restored[bisect_right(restored, since) : bisect_left(restored, until)]
    return [(since, tenure.since), *((at, at) for at in undos)]


def _since(tenure: Tenure) -> int:
    return ALWAYS if tenure.since is None else tenure.since


class _Restated:
    """Where other versions of a key state a triple again, by arriving or by an Undo: "two versions of one key
    count once" (D41)."""

    def __init__(self, claims: Mapping[Key, Sequence[Claim]], begins: Mapping[Key, int]) -> None:
        said: dict[Key, list[tuple[int, int, str]]] = defaultdict(list)
        for key, group in claims.items():
            row, begin = group[0].row, begins[key]
            again = said[row.lineage, key[1]]
            again.append((row.arrival, begin, key[0]))
            again += [(undo, max(undo, begin), key[0]) for undo in row.restored]
        self._learned: dict[Key, list[int]] = {}
        self._earliest: dict[Key, list[_Earliest]] = {}
        for where, again in said.items():
            if len({memory_id for *_, memory_id in again}) > 1:
                again.sort()
                self._learned[where] = [learned for learned, *_ in again]
                earliest = accumulate(
                    ((begin, memory_id) for _, begin, memory_id in reversed(again)),
                    _with,
                    initial=_Earliest(FOREVER, "", FOREVER),
                )
                self._earliest[where] = list(earliest)[::-1]

    def after(self, lineage: str, object_: str, learned: int, memory_id: str) -> int:
        """The earliest begin of what was learned after `learned` of versions other than `memory_id`."""
        known = self._learned.get((lineage, object_))
        if known is None:
            return FOREVER
        earliest = self._earliest[lineage, object_][bisect_right(known, learned)]
        return earliest.of_others if earliest.memory_id == memory_id else earliest.begin


class _Earliest(NamedTuple):
    """The earliest begin, whose it is, and the earliest of all the other versions."""

    begin: int
    memory_id: str
    of_others: int


def _with(known: _Earliest, said: tuple[int, str]) -> _Earliest:
    begin, memory_id = said
    if memory_id == known.memory_id:
        return _Earliest(min(begin, known.begin), memory_id, known.of_others)
    if begin < known.begin:
        return _Earliest(begin, memory_id, known.begin)
    return _Earliest(known.begin, known.memory_id, min(begin, known.of_others))


def _stands(claims: Iterable[Claim], since: int, until: int, undo: int | None) -> Iterator[Stand]:
    for claim in claims:
        end = None if undo is not None and bound(claim.end) <= undo else claim.end
        begin = max(since, claim.start)
        if begin < until and bound(end) > claim.start:
            yield Stand(claim, begin, until, end, undo)
