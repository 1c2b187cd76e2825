"""One batch of `entity_extractor`: rows are read, what was read is stored, and then projected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loom_core import clock, faults
from loom_core.coordination.work import Deadline, Handled
from loom_core.errors import LoomError, Unavailable
from loom_core.extraction.outcomes import Extracted, Outcome, Permanent, Retry
from loom_core.graph.ontology import Ontology
from loom_core.memory.rows import first_wins
from loom_core.projection import attempts
from loom_core.projection.failures import EXTRACTION, record_all
from loom_core.projection.inputs import read_context, read_keys
from loom_core.projection.project import project
from loom_core.projection.units import Unit, extraction_unit_id
from loom_core.recovery.lost import count_lost, next_try
from loom_core.recovery.trying import Failed, log_tries, try_each
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tagging.asking import ask, sources_of
from loom_core.tagging.due import due_rows
from loom_core.tagging.reader import Reader
from loom_core.tagging.rows import Rows, readable_rows
from loom_core.tagging.spending import Reading, store_spending
from loom_core.tenancy import Scope

COLUMNS = (
    "org", "namespace", "memory_id", "memory_key", "extractor", "prompt_version", "result", "input_tokens",
    "output_tokens", "cost_usd", "skipped", "at", "first_wins",
)  # fmt: skip
QUIET_S = 15.0
"""How long a namespace rests when a provider gave no answer at all and did not say when to come back."""


class TextUnread(LoomError):
    """The extractor could not read the text; `code` is the class of what went wrong."""


def tag_batch(store: Store, scope: Scope, reader: Reader, settings: Settings, deadline: Deadline) -> Handled:
    """Reads one batch of a namespace's untagged rows.

    Raises `Unavailable` if a store is away, or if the extractor's setup is wrong: the tries are given back.
    """
    size, most = settings.entity_extract_batch, settings.entity_extract_max_attempts
    due = due_rows(store, scope, size)
    if not due or not reader.budget.refresh():
        return Handled()
    lost = count_lost(store, scope, due, EXTRACTION, settings, most)
    units, left = next_try(due, lost)
    rows = readable_rows(store, scope, units, read_keys(store, scope, sorted({u.memory_key for u in units})))
    left = left or len(due) >= size
    if not rows.units:
        return Handled(more=left)
    sources = sources_of(store, scope, rows.rows, Ontology.merged(read_context(store, scope).ontologies))
    batch = attempts.begin(store, scope, [unit.unit_id for unit in rows.units], EXTRACTION)
    ends = dict.fromkeys(batch.unit_ids, attempts.REFUNDED)
    try:
        outcomes = ask(reader.extractor, rows.rows, sources, deadline)
        ends |= _keep(store, scope, rows, outcomes, reader, batch.batch_id, settings)
    except Unavailable:
        attempts.finish(store, scope, batch, ends)
        raise
    attempts.finish(store, scope, batch, ends)
    tagged = [unit for unit in rows.units if ends[unit.unit_id] == attempts.DONE]
    failed = _project(store, scope, tagged, rows, settings)
    unread = sum(1 for end in ends.values() if end == attempts.FAILED)
    left = left or attempts.REFUNDED in ends.values()
    return Handled(len(tagged) - failed, failed + unread, more=left, wait_s=_wait_s(outcomes))


def _keep(
    store: Store, scope: Scope, rows: Rows, outcomes: Mapping[str, Outcome], reader: Reader, batch_id: str,
    settings: Settings,
) -> dict[str, str]:  # fmt: skip
    """Stores what was read and logs what was not; returns how each try ended."""
    read = {id_: outcome for id_, outcome in outcomes.items() if isinstance(outcome, Extracted)}
    units = [unit for unit in rows.units if unit.unit_id in read]
    store_spending(store, scope, [Reading(unit.memory_id, batch_id, read[unit.unit_id]) for unit in units])

    def store_some(some: Sequence[Unit]) -> Failed:
        _store(store, scope, some, read, reader.extractor.prompt_version)
        return {}

    most = settings.entity_extract_max_attempts
    failed = try_each(units, store_some, EXTRACTION) if units else {}
    log_tries(
        store, scope, units, failed, settings, values=rows.values, only=EXTRACTION, max_attempts=most
    )  # fmt: skip
    ends = {id_: attempts.FAILED if failed[id_] else attempts.DONE for id_ in read}
    for unit in rows.units:
        outcome = outcomes.get(unit.unit_id)
        if isinstance(outcome, Permanent) or (isinstance(outcome, Retry) and outcome.counts):
            error = TextUnread(outcome.error_class, "the text was not read")
            record_all(
                store, scope, [unit], EXTRACTION, error, settings,
                value_sha256=rows.values, max_attempts=most, permanent=isinstance(outcome, Permanent),
                retry_after_s=outcome.retry_after_s if isinstance(outcome, Retry) else None,
            )  # fmt: skip
            ends[unit.unit_id] = attempts.FAILED
    faults.reach("entity_extractor", "stored")
    return ends


def _store(
    store: Store, scope: Scope, units: Sequence[Unit], read: Mapping[str, Extracted], prompt_version: str
) -> None:
    """Stores what was read, in one insert; the first result of a row version is the one that stands (D39)."""
    now = clock.now()
    lines = []
    for unit in units:
        outcome = read[unit.unit_id]
        lines.append(
            [scope.org, scope.namespace, unit.memory_id, unit.memory_key, outcome.model, prompt_version,
             outcome.extraction.to_json(), outcome.tokens_in, outcome.tokens_out, outcome.cost_usd,
             outcome.partly, now, first_wins(now)]
        )  # fmt: skip
    store.insert("memory_extractions", COLUMNS, lines)


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
