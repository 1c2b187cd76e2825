"""Instants, caps, values and unknown fields, as requests take them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_core.errors import Invalid
from loom_core.facts.models import FactsListRequest, FactsTraverseRequest
from loom_core.memory.models import MemorySetRequest
from loom_core.wire import EARLIEST, LATEST, MAX_VALUE_BYTES, Notes, check_value, parse_instant, parse_request

WHO = {"org": "o", "namespace": "n"}
OFFSETS = st.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(
    lambda offset: timezone(timedelta(minutes=offset // timedelta(minutes=1)))
)
INSIDE = st.datetimes(datetime(1900, 1, 2), datetime(2299, 12, 30))


@given(moment=INSIDE, zone=OFFSETS)
def test_an_instant_is_the_same_in_every_offset(moment: datetime, zone: timezone) -> None:
    expected = moment.replace(tzinfo=UTC)
    assert parse_instant(expected.astimezone(zone).isoformat()) == expected


@given(moment=INSIDE)
def test_a_naive_instant_is_utc(moment: datetime) -> None:
    assert parse_instant(moment.isoformat()) == parse_instant(moment) == moment.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-10-01", datetime(2025, 10, 1, tzinfo=UTC)),
        ("20251001T121314Z", datetime(2025, 10, 1, 12, 13, 14, tzinfo=UTC)),
        ("2025-10-01t12:00:00z", datetime(2025, 10, 1, 12, tzinfo=UTC)),
        ("2025-10-01 12:00:00+05:30", datetime(2025, 10, 1, 6, 30, tzinfo=UTC)),
        ("2025-10-01T12:00:00.123456789Z", datetime(2025, 10, 1, 12, 0, 0, 123456, tzinfo=UTC)),
        ("2025-W40-3", datetime(2025, 10, 1, tzinfo=UTC)),
        ("1900-01-01T00:00:00Z", EARLIEST),
        ("2299-12-31T23:59:59.999999Z", LATEST),
    ],
)
def test_iso_8601_is_read(text: str, expected: datetime) -> None:
    assert parse_instant(text) == expected


@given(text=st.text(max_size=40))
def test_any_text_is_an_instant_or_a_value_error(text: str) -> None:
    try:
        moment = parse_instant(text)
    except ValueError:
        return
    assert moment.tzinfo is UTC


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(value=JSON)
def test_any_json_is_a_value_as_it_stands(value: Any) -> None:
    request, _ = parse_request(MemorySetRequest, WHO | {"memory_key": "k", "value": value})
    assert json.dumps(request.value) == json.dumps(value)


@given(data=st.dictionaries(st.sampled_from([*FactsTraverseRequest.model_fields, "other"]), JSON))
def test_any_json_object_is_a_request_or_refused_as_invalid(data: dict[str, Any]) -> None:
    try:
        request, notes = parse_request(FactsTraverseRequest, WHO | {"seed_entity": "a"} | data)
    except Invalid:
        return
    assert 1 <= request.max_hops <= 4
    assert ("other" in data) is ("other" in notes.ignored)


def nested(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def test_a_value_may_be_a_hundred_levels_deep() -> None:
    assert check_value(nested(100)) == nested(100)
    with pytest.raises(ValueError, match="100 levels"):
        check_value(nested(101))


def test_a_value_is_measured_in_bytes_of_utf_8() -> None:
    assert check_value("ß" * (MAX_VALUE_BYTES // 2 - 1))
    with pytest.raises(ValueError, match=str(MAX_VALUE_BYTES)):
        check_value("ß" * (MAX_VALUE_BYTES // 2))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object(), "\ud800", {"\udfff": 1}])
def test_what_is_not_json_is_no_value(value: Any) -> None:
    with pytest.raises(ValueError, match=r"JSON|surrogate"):
        check_value(value)


def test_a_whole_number_is_an_integer_however_it_is_written() -> None:
    request, _ = parse_request(FactsListRequest, WHO | {"limit": 5.0})
    assert (request.limit, type(request.limit)) == (5, int)


def test_a_field_that_is_ignored_often_is_named_once_and_many_are_cut() -> None:
    notes = Notes()
    for number in range(500):
        notes.ignore("same")
        notes.ignore(f"field {number}" + "x" * 500)
    assert len(notes.ignored) == 100
    assert max(map(len, notes.ignored)) <= 100


def test_a_refusal_never_repeats_what_was_sent() -> None:
    with pytest.raises(Invalid) as caught:
        parse_request(MemorySetRequest, WHO | {"memory_key": "k", "value": 1, "confidence": "my secret"})
    assert "secret" not in caught.value.message
