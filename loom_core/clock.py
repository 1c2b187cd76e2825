"""Instants as integers: UTC microseconds since 1970, the storage's own unit (D1)."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

SECOND = 1_000_000
DAY = 86_400 * SECOND
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def now() -> int:
    """The present instant in microseconds."""
    return time.time_ns() // 1000


def micros(instant: datetime) -> int:
    """`instant` in microseconds; a naive one is UTC."""
    aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND


def instant(value: int) -> datetime:
    """The aware datetime of `value` microseconds."""
    return _EPOCH + timedelta(microseconds=value)


def optional_micros(value: datetime | None) -> int | None:
    """`micros`, None kept."""
    return None if value is None else micros(value)


def optional_instant(value: int | None) -> datetime | None:
    """`instant`, None kept."""
    return None if value is None else instant(value)
