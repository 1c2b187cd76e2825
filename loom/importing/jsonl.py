"""JSON lines: each an entry with the fields of `memory.set`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from loom.importing.entries import BadInput, Entry, Source


def read_jsonl(path: Path) -> Source:
    """The entries of a file, in order. A line that is none ends the import there, named by its number.

    Raises `BadInput` for a file that cannot be opened.
    """
    try:
        with path.open("rb") as file:
            total = sum(1 for line in file if line.strip())
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    return Source(_entries(path), total)


def _entries(path: Path) -> Iterator[Entry]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                entry = json.loads(line.decode("utf-8"))
            except (UnicodeDecodeError, json.JSONDecodeError) as error:
                raise BadInput(f"{path}, line {number}: not a JSON object ({error})") from error
            if not isinstance(entry, dict) or "memory_key" not in entry or "value" not in entry:
                raise BadInput(f"{path}, line {number}: not an object with memory_key and value")
            yield entry
