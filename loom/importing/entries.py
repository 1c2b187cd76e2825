"""What an importer yields, and what stops it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Entry = dict[str, Any]
"""The fields of one `memory.set` entry."""


class BadInput(Exception):
    """The input cannot be read further. The message names the place; what came before it has been imported."""


@dataclass(frozen=True, slots=True)
class Source:
    """Entries to import, and how many there are if that is known."""

    entries: Iterator[Entry]
    total: int | None
