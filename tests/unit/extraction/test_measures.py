"""Numbers and their units."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_core.extraction.local.measures import measures, unit_name


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("250 ms", 250.0, "millisecond"),
        ("30s", 30.0, "second"),
        ("1.5 seconds", 1.5, "second"),
        ("2 GB of memory", 2.0, "gigabyte"),
        ("512 mb", 512.0, "megabyte"),
        ("95%", 95.0, "percent"),
        ("$20 a month", 20.0, "USD/month"),
        ("$1.5 million", 1_500_000.0, "USD"),
        ("1200 euros", 1200.0, "EUR"),
        ("£3", 3.0, "GBP"),
        ("20 MB/s", 20.0, "megabyte/second"),
        ("1,200 messages", 1200.0, None),
        ("5k rows", 5000.0, None),
        ("3.5 kg", 3.5, "kilogram"),
        ("42 km", 42.0, "kilometer"),
        ("a 30-second timeout", 30.0, "second"),
        ("21 °C", 21.0, "degree_Celsius"),
    ],
)
def test_a_number_has_a_value_and_a_unit(text, value, unit):
    (found,) = measures(text)
    assert (found.value, found.unit) == (value, unit)


@pytest.mark.parametrize("text", ["redis 7.2.1", "10/11/2025", "10:30", "py3", "#12", "1.2.3", "v2", "x86"])
def test_what_is_no_amount_is_none(text):
    assert list(measures(text)) == []


@pytest.mark.parametrize(
    "word", ["connections", "links", "points", "a", "is", "in", "cycles", "at", "users", "(", "x" * 500]
)
def test_a_word_that_mostly_means_something_else_is_no_unit(word):
    assert unit_name(word) is None


@given(st.text(max_size=80))
def test_any_text_is_measured_within_its_bounds(text):
    for found in measures(text):
        assert 0 <= found.start < found.end <= len(text)
