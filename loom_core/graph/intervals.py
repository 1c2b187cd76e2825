"""Intervals of valid time. Instants are UTC microseconds since 1970, None where there is no bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

ALWAYS = -(1 << 62)
FOREVER = 1 << 62
"""Stand-ins for a missing lower and upper bound, so that bounds compare as plain integers."""


class Interval(NamedTuple):
    """One span of an observation: from `valid_from` to the earlier of `valid_to` and `invalid_at` (D2).

    `valid_to` is an end that was stated, `invalid_at` an end that later events brought. An observation that
    held at no instant keeps one span of no length, so that it can still be counted, exported and expired.
    """

    valid_from: int
    valid_to: int | None
    invalid_at: int | None

    @property
    def until(self) -> int:
        """The instant at which it no longer holds; `FOREVER` where it is open."""
        return min(bound(self.valid_to), bound(self.invalid_at))

    def holds_at(self, instant: int) -> bool:
        """D2, the rule every read applies."""
        return self.valid_from <= instant < self.until

    def finality(self) -> tuple[int, bool, int]:
        """Orders spans by who has the last word: the later end; of equal ones the one that ran its course."""
        return self.until, self.invalid_at is None, bound(self.valid_to)


def bound(instant: int | None) -> int:
    """An upper bound as an integer that compares."""
    return FOREVER if instant is None else instant


def optional(instant: int) -> int | None:
    """An upper bound as it is stored."""
    return None if instant >= FOREVER else instant


def stretch(since: int, until: int, end: int | None) -> Interval | None:
    """What holds of [since, until) where the end `end` was stated: None where nothing does.

    Being cut off before the stated end is an `invalid_at`; reaching it is not (D10).
    """
    if since >= min(until, bound(end)):
        return None
    return Interval(since, end, None if until >= bound(end) else optional(until))


def unheld(start: int, end: int | None) -> Interval:
    """The span of an observation that held at no instant. `invalid_at` is never before `valid_from` (D4)."""
    return Interval(start, end, None if end is not None and end <= start else start)


def joined(parts: Iterable[Interval]) -> tuple[Interval, ...]:
    """The union of `parts` as the fewest disjoint intervals in time order; each ends as its last part
    does."""
    parts = list(parts)
    if len(parts) < 2:
        return tuple(parts)
    result: list[Interval] = []
    for part in sorted(parts, key=_order):
        last = result[-1] if result else None
        if last is None or part.valid_from > last.until:
            result.append(part)
        elif part.finality() > last.finality():
            result[-1] = Interval(last.valid_from, part.valid_to, part.invalid_at)
    return tuple(result)


def _order(part: Interval) -> tuple[int, tuple[int, bool, int]]:
    return part.valid_from, part.finality()


def is_current(spans: Sequence[Interval], now: int) -> bool:
    """Whether an observation holds now, or will from its start on: what "current" means for the no-op of
    D12."""
    instant = max(now, spans[0].valid_from)
    return any(span.holds_at(instant) for span in spans)
