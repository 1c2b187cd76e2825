"""What the engine says of a statement: its exceptions and its counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

Settings = tuple[tuple[str, str], ...]
"""Names and values, sorted by name."""

_CODE = re.compile(r"Code: (\d+)")
_UNKNOWN_EXCEPTION = 1002


class EngineError(Exception):
    """An exception of the engine. `code` is ClickHouse's; the message is its text."""

    def __init__(self, message: str) -> None:
        found = _CODE.search(message)
        start = found.start() if found else 0
        super().__init__(message[start:].strip())
        self.code = int(found[1]) if found else _UNKNOWN_EXCEPTION


@dataclass(slots=True)
class Counts:
    """Rows and bytes that a statement read, wrote and returned so far."""

    read_rows: int = 0
    read_bytes: int = 0
    written_rows: int = 0
    written_bytes: int = 0
    result_rows: int = 0
    result_bytes: int = 0

    def add(self, result: Any) -> None:
        """Count one result of the engine in."""
        self.read_rows += result.storage_rows_read()
        self.read_bytes += result.storage_bytes_read()
        self.written_rows += result.rows_written()
        self.written_bytes += result.bytes_written()
        self.result_rows += result.rows_read()
        self.result_bytes += result.size()
