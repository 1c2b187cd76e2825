"""Where a text says when: the time expressions of a sentence, and the validity each gives a statement.

"Since", "from", "on", "in" and a bare date say when a statement begins to hold; "until", "to" and "before"
where it ends, at the first instant of what they name ("until December" ends on December 1, as in the slots'
worked examples); "through" ends with the last. "From 2023 to 2024", "between" and "2023-2024" give both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from loom_core.extraction.dates.points import BARE, DATED, NAMED, RELATIVE, Lean, Period, resolve

_ANY = f"{DATED}|{NAMED}|{RELATIVE}|{BARE}"
_SURE = f"{DATED}|{NAMED}|{RELATIVE}"
_FROM = r"since|from|as\s+of|starting(?:\s+(?:on|in|from))?|beginning(?:\s+(?:on|in))?|effective|after"
_TO = r"until|till|through|thru|up\s+to|before"
_ON = r"on|in|during|early\s+in|late\s+in"

_RANGE = rf"(?:from|between)\s+(?P<a>{_ANY})\s*(?P<link>to|until|till|through|thru|and|[-–—])\s*(?P<b>{_ANY})"
_SPAN = rf"(?P<c>{DATED}|{NAMED}|\b{BARE})\s*(?:to|until|[-–—])\s*(?P<d>{DATED}|{NAMED}|{BARE})"
_LED = (
    rf"(?P<lead>{_FROM}|{_TO}|{_ON})\s+(?:early\s+|late\s+|mid-?\s*|the\s+(?:end\s+of\s+)?)?(?P<led>{_ANY})"
)
_FINDER = re.compile(
    rf"(?<![\w.-])(?:{_RANGE}|{_SPAN}|{_LED}|(?P<alone>{_SURE}))(?![\w%]|-\d)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Expression:
    """A time expression at [start, end) of its text: words that begin, and words that end, a validity."""

    start: int
    end: int
    begins: str | None
    ends: str | None
    lead: str = ""

    def validity(
        self, at: datetime | None, *, future: bool = False
    ) -> tuple[datetime | None, datetime | None]:
        """(valid_from, valid_to) for a text written at `at`; None for what is not said or can't be known.

        `future`: the clause looks ahead ("moving on Dec 1"), so a date without a year is the next one.
        """
        lean: Lean = "future" if future else "near"
        begin = self._period(self.begins, at, "past" if self.lead == "since" else lean)
        end = self._period(self.ends, at, "future" if self.lead in _OPEN_ENDED and not self.begins else lean)
        if begin and end and self.begins and self.ends:
            begin = self._period(f"{self.begins} {end.start.year}", at, lean) or begin
        valid_from = (begin.end if self.lead == "after" else begin.start) if begin else None
        valid_to = (end.end if self.lead in {"through", "thru"} else end.start) if end else None
        if valid_from and valid_to and valid_to <= valid_from:
            return valid_from, None
        return valid_from, valid_to

    @staticmethod
    def _period(words: str | None, at: datetime | None, lean: Lean) -> Period | None:
        return resolve(words, at, lean) if words else None


_OPEN_ENDED = frozenset({"until", "till", "through", "thru", "up to"})


def expressions(text: str) -> Iterator[Expression]:
    """The time expressions of a text, from left to right."""
    for match in _FINDER.finditer(text):
        groups = match.groupdict()
        lead = " ".join((groups["lead"] or groups["link"] or "").casefold().split())
        begins: str | None = groups["a"] or groups["c"] or groups["alone"]
        ends: str | None = groups["b"] or groups["d"]
        if groups["led"]:
            if re.fullmatch(_TO, lead):
                ends = groups["led"]
            elif lead == "during":
                begins = ends = groups["led"]
                lead = "through"
            else:
                begins = groups["led"]
        yield Expression(match.start(), match.end(), begins, ends, lead)
