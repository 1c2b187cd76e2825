"""What a projection run is about: the row versions to bring up to date, with their lives and their readings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from loom_core.graph.lifecycle import KeyEvent, RowHistory, Version, current, lifecycles, restore_target
from loom_core.graph.ontology import Ontology
from loom_core.memory.rows import MemoryRow
from loom_core.projection.inputs import KeyInputs, NamespaceContext
from loom_core.projection.reading import Reading, read
from loom_core.projection.units import Unit


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """One row version to project."""

    row: MemoryRow
    history: RowHistory
    reading: Reading
    ver: int
    fresh: bool
    """Nothing of it is stored yet, so that there is nothing to compare with."""
    alone: bool
    """No other version of its key and no event: what it states depends on no other row of a `many` relation."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The rows of one run, in a namespace as its operators have it."""

    context: NamespaceContext
    ontology: Ontology
    rows: Sequence[PlannedRow]

    def stored_ids(self) -> list[str]:
        """Ids of rows that may have something stored."""
        return [planned.row.memory_id for planned in self.rows if not planned.fresh]


def make_plan(
    inputs: Mapping[str, KeyInputs],
    context: NamespaceContext,
    units: Sequence[Unit] | None,
    fresh: frozenset[str] = frozenset(),
) -> Plan:
    """The rows that `units` change; every row of the keys where `units` is None.

    `fresh`: ids of rows that landed in this very call.
    """
    ontology = Ontology.merged(context.ontologies)
    by_key: dict[str, list[Unit]] = {}
    for unit in units or ():
        by_key.setdefault(unit.memory_key, []).append(unit)
    planned = []
    for key, each in inputs.items():
        histories = histories_of(each)
        ids = set(histories) if units is None else affected(each, histories, by_key.get(key, ()))
        ver = each.version(context.revision)
        alone = len(each.rows) == 1 and not each.events
        planned += [
            PlannedRow(
                row, histories[row.memory_id], read(each, row, context, ontology), ver,
                row.memory_id in fresh, alone and not row.supersedes,
            )
            for row in each.rows
            if row.memory_id in ids
        ]  # fmt: skip
    return Plan(context, ontology, planned)


def affected(inputs: KeyInputs, histories: Mapping[str, RowHistory], units: Iterable[Unit]) -> set[str]:
    """Ids of the versions whose life or content the units change: compares the lives with and without them."""
    units = list(units)
    if len({unit.unit_id for unit in units if unit.kind != "extraction"}) == len(inputs.rows) + len(
        inputs.events
    ):
        return set(histories)  # nothing was there before
    own = {unit.memory_id for unit in units}
    without = KeyInputs(
        inputs.memory_key,
        [row for row in inputs.rows if row.memory_id not in {u.unit_id for u in units if u.kind == "row"}],
        [event for event in inputs.events if event.event_id not in {u.unit_id for u in units}],
    )
    before = histories_of(without)
    changed = {id_ for id_, history in histories.items() if before.get(id_) != history}
    if any(row.memory_id in own and row.sensitivity == "high" for row in inputs.rows):
        # What an extractor took from the text of earlier versions is withdrawn (D37).
        changed |= set(inputs.extractions)
    return (changed | own) & set(histories)


def histories_of(inputs: KeyInputs) -> Mapping[str, RowHistory]:
    """The life of every version of a key."""
    return lifecycles(list(_versions(inputs)), list(_events(inputs)))


def current_id(inputs: KeyInputs) -> str | None:
    """The id of the version that `memory.get` returns; None where there is none."""
    return current(list(_versions(inputs)), list(_events(inputs)))


def default_restore_target(inputs: KeyInputs, values_current: bool) -> str | None:
    """The version that a restore without a target brings back (D12)."""
    return restore_target(list(_versions(inputs)), list(_events(inputs)), values_current=values_current)


def _versions(inputs: KeyInputs) -> Iterator[Version]:
    for row in inputs.rows:
        yield Version(row.memory_id, row.arrival, row.valid_at, row.valid_to)


def _events(inputs: KeyInputs) -> Iterator[KeyEvent]:
    for event in inputs.told():
        yield KeyEvent(event.event_id, event.kind, event.at, event.memory_id, event.start)  # type: ignore[arg-type]
