"""One date in words ("Oct 1", "last week", "2023") as a period of UTC time."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from dateutil import parser
from dateutil.relativedelta import relativedelta

Lean = Literal["past", "future", "near"]
"""Which of the years a date without one is put in: the last, the next, or the nearest to the text's own
time.
"""

_MONTHS = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = "hour|day|week|month|quarter|year"
_COUNT = r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of|a few"
_YEAR = r"(?:19|20)\d\d"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"

DATED = (
    rf"{_YEAR}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)?|{_YEAR}/\d\d/\d\d"
)
"""Dates in digits, year first; "10/11/2025" means two days and is left alone."""
NAMED = (
    rf"{_MONTHS}\s+{_DAY}(?:\s*,?\s*{_YEAR})?(?![\d:])|{_DAY}\s+(?:of\s+)?{_MONTHS}(?:\s*,?\s*{_YEAR})?|"
    rf"{_MONTHS}\s*,?\s*(?:of\s+)?{_YEAR}|Q[1-4](?:\s+(?:of\s+)?{_YEAR})"
)
RELATIVE = (
    rf"yesterday|today|tomorrow|(?:last|this|next)\s+(?:{_UNITS}|{'|'.join(_WEEKDAYS)}|{_MONTHS})|"
    rf"(?:{_COUNT})\s+(?:{_UNITS})s?\s+ago"
)
BARE = rf"{_MONTHS}|{_YEAR}(?!\d|\s+(?!(?:is|was|has|as|this|its)\b)[a-z]+s\b)|{'|'.join(_WEEKDAYS)}|Q[1-4]"
"""Words that are dates only where a preposition says so ("in March", not "may"; "in 2019", not "in 2019
cases").
"""

_NUMBERS = {"a": 1, "an": 1, "a couple of": 2, "a few": 3}
_NUMBERS |= {
    word: n
    for n, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 1
    )
}
_STEPS: dict[str, relativedelta] = {
    "hour": relativedelta(hours=1),
    "day": relativedelta(days=1),
    "week": relativedelta(weeks=1),
    "month": relativedelta(months=1),
    "quarter": relativedelta(months=3),
    "year": relativedelta(years=1),
}


@dataclass(frozen=True, slots=True)
class Period:
    """From `start` up to but not including `end`, both UTC (D1)."""

    start: datetime
    end: datetime


def resolve(words: str, at: datetime | None, lean: Lean = "near") -> Period | None:
    """The period that the words of one date mean to a text written at `at` (naive: UTC).

    None where they are no date, name an impossible one, or need an `at` that is not given.
    """
    text = " ".join(words.split()).casefold().rstrip(".,")
    now = None if at is None else (at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC))
    try:
        if re.fullmatch(RELATIVE, text, re.IGNORECASE) or text in _WEEKDAYS:
            return None if now is None else _relative(text, now, lean)
        if quarter := re.fullmatch(rf"q([1-4])(?:\s+(?:of\s+)?({_YEAR}))?", text):
            return _quarter(int(quarter[1]), quarter[2], now, lean)
        if re.fullmatch(f"{DATED}|{NAMED}|{BARE}", text, re.IGNORECASE):
            return _absolute(text, now, lean)
    except (ValueError, OverflowError):  # Feb 30, year 0, 999 years ago
        return None
    return None


def _absolute(text: str, now: datetime | None, lean: Lean) -> Period | None:
    """dateutil fills what a date leaves out from a default: two defaults show what it left out."""
    one, other = (
        parser.parse(text, default=datetime(y, n, n, tzinfo=UTC)) for y, n in ((2000, 1), (2004, 2))
    )
    if one.time() != datetime.min.time() or ":" in text:
        start = one.astimezone(UTC)
        return Period(start, start + timedelta(microseconds=1))
    unit = "day" if one.day == other.day else "month" if one.month == other.month else "year"
    first = one.replace(day=1 if unit != "day" else one.day, month=1 if unit == "year" else one.month)
    if one.year != other.year:
        if now is None:
            return None
        first = _in_some_year(lambda year: first.replace(year=year), _STEPS[unit], now, lean)
    return Period(first, first + _STEPS[unit])


def _quarter(number: int, year: str | None, now: datetime | None, lean: Lean) -> Period | None:
    first = datetime(2000, 3 * number - 2, 1, tzinfo=UTC)
    if year is not None:
        first = first.replace(year=int(year))
    elif now is not None:
        first = _in_some_year(lambda y: first.replace(year=y), _STEPS["quarter"], now, lean)
    else:
        return None
    return Period(first, first + _STEPS["quarter"])


def _in_some_year(
    dated: Callable[[int], datetime], step: relativedelta, now: datetime, lean: Lean
) -> datetime:
    """The date without a year that the text's time and the lean of its words call for."""
    dates = []
    for year in range(now.year - 4, now.year + 5):
        with suppress(ValueError):  # February 29 is in one year of four
            dates.append(dated(year))
    if lean == "past":
        return max(d for d in dates if d <= now)
    if lean == "future":
        return min(d for d in dates if d + step > now)
    return min(dates, key=lambda d: abs(d - now))


def _relative(text: str, now: datetime, lean: Lean) -> Period:
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if text in {"yesterday", "today", "tomorrow"}:
        start = day + timedelta(days=("yesterday", "today", "tomorrow").index(text) - 1)
        return Period(start, start + _STEPS["day"])
    if text.endswith(" ago"):
        count, unit = text.removesuffix(" ago").rsplit(" ", 1)
        unit = unit.removesuffix("s")
        back = (now if unit == "hour" else day) - _STEPS[unit] * (_NUMBERS.get(count) or int(count))
        return Period(back, back + (_STEPS["hour"] if unit == "hour" else _STEPS["day"]))
    which, _, name = text.rpartition(" ")
    if name in _WEEKDAYS:
        return _weekday(day, _WEEKDAYS.index(name), which, lean)
    if name in _STEPS:
        start = _start_of(name, now) + _STEPS[name] * {"last": -1, "this": 0, "next": 1}[which]
        return Period(start, start + _STEPS[name])
    # "last March", "this March", "next March": a month, before or after the one that is.
    leaning: dict[str, Lean] = {"last": "past", "this": "near", "next": "future"}
    period = _absolute(name, now, leaning[which])
    if period is None:  # a month's name with `now` given always resolves
        raise ValueError(text)
    if which == "last" and period.end > now:
        return Period(period.start - _STEPS["year"], period.end - _STEPS["year"])
    if which == "next" and period.start <= now:
        return Period(period.start + _STEPS["year"], period.end + _STEPS["year"])
    return period


def _weekday(day: datetime, wanted: int, which: str, lean: Lean) -> Period:
    ahead = (wanted - day.weekday()) % 7
    if which == "next" or (not which and lean == "future"):
        start = day + timedelta(days=ahead or 7)
    elif which == "this":
        start = day + timedelta(days=wanted - day.weekday())
    else:
        start = day - timedelta(days=(7 - ahead) if ahead or which == "last" else 0)
    return Period(start, start + _STEPS["day"])


def _start_of(unit: str, now: datetime) -> datetime:
    hour = now.replace(minute=0, second=0, microsecond=0)
    day = hour.replace(hour=0)
    return {
        "hour": hour,
        "day": day,
        "week": day - timedelta(days=day.weekday()),
        "month": day.replace(day=1),
        "quarter": day.replace(day=1, month=3 * ((day.month - 1) // 3) + 1),
        "year": day.replace(day=1, month=1),
    }[unit]
