"""Dates in words against the text's own time."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_core.extraction.dates import expressions, resolve

AT = datetime(2025, 11, 2, 10, 30, tzinfo=UTC)  # a Sunday


def day(year: int, month: int, number: int = 1) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


def validity(
    text: str, at: datetime | None = AT, *, future: bool = False
) -> list[tuple[datetime | None, datetime | None]]:
    return [e.validity(at, future=future) for e in expressions(text)]


@pytest.mark.parametrize(
    ("text", "valid_from", "valid_to"),
    [
        ("works there since March", day(2025, 3), None),
        ("works there since December", day(2024, 12), None),
        ("since March 2023", day(2023, 3), None),
        ("London until December", None, day(2025, 12)),
        ("until Dec 1, 2025", None, day(2025, 12)),
        ("through December", None, day(2026, 1)),
        ("on Oct 1", day(2025, 10), None),
        ("on October 1st, 2024", day(2024, 10), None),
        ("the 1st of October", day(2025, 10), None),
        ("on 2025-10-01", day(2025, 10), None),
        ("as of 2025-10-01T10:00:00+02:00", datetime(2025, 10, 1, 8, tzinfo=UTC), None),
        ("in 2019", day(2019, 1), None),
        ("after 2020", day(2021, 1), None),
        ("before 2020", None, day(2020, 1)),
        ("during 2019", day(2019, 1), day(2020, 1)),
        ("in Q3 2024", day(2024, 7), None),
        ("from 2023 to 2024", day(2023, 1), day(2024, 1)),
        ("from March to June", day(2025, 3), day(2025, 6)),
        ("between May and June 2024", day(2024, 5), day(2024, 6)),
        ("(1992-2002)", day(1992, 1), day(2002, 1)),
        ("yesterday", day(2025, 11, 1), None),
        ("last week", day(2025, 10, 20), None),
        ("last month", day(2025, 10), None),
        ("last year", day(2024, 1), None),
        ("next month", day(2025, 12), None),
        ("this week", day(2025, 10, 27), None),
        ("last Friday", day(2025, 10, 31), None),
        ("last Sunday", day(2025, 10, 26), None),
        ("on Monday", day(2025, 10, 27), None),
        ("three days ago", day(2025, 10, 30), None),
        ("a week ago", day(2025, 10, 26), None),
        ("2 hours ago", datetime(2025, 11, 2, 8, 30, tzinfo=UTC), None),
        ("last November", day(2024, 11), None),
        ("next November", day(2026, 11), None),
        ("on Feb 29", day(2024, 2, 29), None),
    ],
)
def test_words_are_a_validity(text, valid_from, valid_to):
    assert validity(text) == [(valid_from, valid_to)]


@pytest.mark.parametrize(
    "text",
    ["I may march on", "in 2000 cases", "from 1.66.2 to 1.67.0", "version 2024.1", "10/11/2025", "in the 1930s",
     "the march of time", "#2023", "error 2019-x", "RFC 2045", "port 1999", "1 in 4"],
)  # fmt: skip
def test_what_only_looks_like_a_date_is_none(text):
    assert [v for v in validity(text) if v != (None, None)] == []


def test_a_clause_that_looks_ahead_means_the_next_such_day():
    assert validity("on May 1", future=True) == [(day(2026, 5), None)]
    assert validity("on Dec 1", future=True) == [(day(2025, 12), None)]


def test_a_relative_date_needs_a_time_to_be_relative_to():
    assert validity("since March and last week", None) == [(None, None), (None, None)]
    assert validity("since March 2023", None) == [(day(2023, 3), None)]


def test_impossible_dates_are_none():
    assert validity("since Feb 30") == [(None, None)]
    assert resolve("Feb 30", AT) is None


def test_an_end_before_its_start_is_no_end():
    assert validity("from 2024 to 2019") == [(day(2024, 1), None)]


def test_a_naive_time_is_utc_and_an_offset_is_converted():
    naive = resolve("yesterday", datetime(2025, 11, 2, 1))
    offset = resolve("yesterday", datetime(2025, 11, 2, 1, tzinfo=timezone(timedelta(hours=2))))
    assert naive is not None and naive.start == day(2025, 11, 1)
    assert offset is not None and offset.start == day(2025, 10, 31)


@given(st.text(max_size=60), st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)))
def test_no_text_and_no_time_breaks_the_rules(text, at):
    for expression in expressions(text + " since last week until March, 3 years ago or Feb 29"):
        start, end = expression.validity(at)
        assert all(d is None or d.tzinfo is UTC for d in (start, end))
