"""The rows of a batch that an extractor may read now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from loom_core.memory.rows import MemoryRow
from loom_core.projection.failures import EXTRACTION, OPEN, RESOLVED, STALE, of_units, settle
from loom_core.projection.inputs import KeyInputs
from loom_core.projection.reading import text_is_readable
from loom_core.projection.units import Unit
from loom_core.storage.store import Store
from loom_core.tenancy import Scope


@dataclass(frozen=True, slots=True)
class Rows:
    """Units and their rows, in the same order."""

    units: Sequence[Unit]
    rows: Sequence[MemoryRow]

    @property
    def values(self) -> dict[str, str]:
        """By memory id, the hash of the row's value."""
        return {row.memory_id: row.content_sha256 for row in self.rows}

    def batches(self, size: int) -> Iterator[Rows]:
        """The same in runs of at most `size`."""
        for start in range(0, len(self.units), size):
            yield Rows(self.units[start : start + size], self.rows[start : start + size])


def readable_rows(store: Store, scope: Scope, units: Sequence[Unit], inputs: Mapping[str, KeyInputs]) -> Rows:
    """Those of `units` that an extractor may read (D37) and none has read yet; the others are settled.

    Of a row that was erased meanwhile nothing is written down: its failure would be a trace of it (D36).
    """
    readable: list[tuple[Unit, MemoryRow]] = []
    overcome: dict[str, str] = {}
    for unit in units:
        each = inputs[unit.memory_key]
        row = next((row for row in each.rows if row.memory_id == unit.memory_id), None)
        if row is None:
            continue
        if unit.memory_id in each.extractions:
            overcome[unit.unit_id] = RESOLVED
        elif text_is_readable(each, row):
            readable.append((unit, row))
        else:
            overcome[unit.unit_id] = STALE
    known = of_units(store, scope, list(overcome)) if overcome else []
    for state in (RESOLVED, STALE):
        settled = [
            failure
            for failure in known
            if failure.projection == EXTRACTION
            and failure.state == OPEN
            and overcome[failure.unit_id] == state
        ]
        settle(store, scope, settled, state)
    return Rows([unit for unit, _ in readable], [row for _, row in readable])
