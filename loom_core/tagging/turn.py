"""One turn of a namespace in `entity_extractor`: some batches are read and stored, then projected together.

A projection costs some dozen queries whether it is of ten rows or of five hundred.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from loom_core import clock
from loom_core.coordination.work import Deadline, Handled
from loom_core.errors import Unavailable
from loom_core.extraction.outcomes import Outcome, Retry, Source
from loom_core.graph.ontology import Ontology
from loom_core.projection import attempts
from loom_core.projection.failures import EXTRACTION
from loom_core.projection.inputs import read_context, read_keys
from loom_core.projection.project import project
from loom_core.projection.units import Unit, extraction_unit_id
from loom_core.recovery.lost import count_lost, next_try
from loom_core.recovery.trying import log_tries, try_each
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tagging.asking import ask, sources_of
from loom_core.tagging.due import due_rows
from loom_core.tagging.keeping import keep
from loom_core.tagging.reader import Reader
from loom_core.tagging.rows import Rows, readable_rows
from loom_core.tenancy import Scope

BATCHES = 8
TURN_S = 10.0
"""A turn begins no further batch after this: other namespaces wait."""
QUIET_S = 15.0
"""How long a namespace rests when a provider gave no answer at all and did not say when to come back."""


def tag_turn(store: Store, scope: Scope, reader: Reader, settings: Settings, deadline: Deadline) -> Handled:
    """Reads up to `BATCHES` batches of a namespace's untagged rows.

    Raises `Unavailable` if a store is away, or if the extractor's setup is wrong: the tries are given back.
    """
    most_rows = BATCHES * settings.entity_extract_batch
    due = due_rows(store, scope, most_rows)
    if not due or not reader.budget.refresh():
        return Handled()
    lost = count_lost(store, scope, due, EXTRACTION, settings, settings.entity_extract_max_attempts)
    units, left = next_try(due, lost)
    left = left or len(due) >= most_rows
    rows = readable_rows(store, scope, units, read_keys(store, scope, sorted({u.memory_key for u in units})))
    if not rows.units:
        return Handled(more=left)
    sources = sources_of(store, scope, rows.rows, Ontology.merged(read_context(store, scope).ontologies))
    ends: dict[str, str] = {}
    wait_s = 0.0
    stopped: Unavailable | None = None
    began = time.monotonic()
    for batch in rows.batches(settings.entity_extract_batch):
        try:
            outcomes, batch_ends = _read_batch(store, scope, batch, sources, reader, settings, deadline)
        except Unavailable as error:
            stopped = error
            break
        ends |= batch_ends
        wait_s = _wait_s(outcomes)
        if wait_s or deadline.passed() or time.monotonic() - began > TURN_S or not reader.budget.refresh():
            break
    tagged = [unit for unit in rows.units if ends.get(unit.unit_id) == attempts.DONE]
    failed = _project(store, scope, tagged, rows, settings)
    if stopped is not None:
        raise stopped
    unread = sum(1 for end in ends.values() if end == attempts.FAILED)
    left = left or len(tagged) + unread < len(rows.units)
    return Handled(len(tagged) - failed, failed + unread, more=left, wait_s=wait_s)


def _read_batch(
    store: Store, scope: Scope, rows: Rows, sources: Mapping[str, Source], reader: Reader, settings: Settings,
    deadline: Deadline,
) -> tuple[Mapping[str, Outcome], dict[str, str]]:  # fmt: skip
    """One try of some rows: recorded, read, stored, reported. Their outcomes, and how each try ended."""
    batch = attempts.begin(store, scope, [unit.unit_id for unit in rows.units], EXTRACTION)
    try:
        outcomes = ask(reader.extractor, rows.rows, sources, deadline)
        prompt_version = reader.extractor.prompt_version
        ends = keep(store, scope, rows, outcomes, prompt_version, batch.batch_id, settings)
    except Unavailable:
        attempts.refund(store, scope, batch)
        raise
    attempts.finish(store, scope, batch, ends)
    return outcomes, ends


def _project(store: Store, scope: Scope, units: Sequence[Unit], rows: Rows, settings: Settings) -> int:
    """Projects the stored extractions; returns how many failed. What is lost here is found by its receipt."""
    if not units:
        return 0
    now = clock.now()
    stored = [
        Unit(extraction_unit_id(unit.memory_id), "extraction", unit.memory_key, unit.memory_id, now)
        for unit in units
    ]
    failed = try_each(stored, lambda some: project(store, scope, some).failed)
    return log_tries(store, scope, stored, failed, settings, values=rows.values)


def _wait_s(outcomes: Mapping[str, Outcome]) -> float:
    """How long to leave the provider alone: as long as it said, or a while if it answered nothing at all."""
    refunded = [each for each in outcomes.values() if isinstance(each, Retry) and not each.counts]
    if not refunded:
        return 0.0
    said = max(each.retry_after_s or 0.0 for each in refunded)
    return said or (QUIET_S if len(refunded) == len(outcomes) else 1.0)
