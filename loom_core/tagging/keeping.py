"""Stores what an extractor read and logs what it did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loom_core import clock, faults
from loom_core.errors import LoomError
from loom_core.extraction.outcomes import Extracted, Outcome, Permanent, Retry
from loom_core.memory.rows import first_wins
from loom_core.projection import attempts
from loom_core.projection.failures import EXTRACTION, record_all
from loom_core.projection.units import Unit
from loom_core.recovery.trying import Failed, log_tries, try_each
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tagging.rows import Rows
from loom_core.tagging.spending import Reading, store_spending
from loom_core.tenancy import Scope

COLUMNS = (
    "org", "namespace", "memory_id", "memory_key", "extractor", "prompt_version", "result", "input_tokens",
    "output_tokens", "cost_usd", "skipped", "at", "first_wins",
)  # fmt: skip


class TextUnread(LoomError):
    """The extractor could not read the text; `code` is the class of what went wrong."""


def keep(
    store: Store, scope: Scope, rows: Rows, outcomes: Mapping[str, Outcome], prompt_version: str, batch_id: str,
    settings: Settings,
) -> dict[str, str]:  # fmt: skip
    """Stores and logs the outcomes of one batch; returns how each row's try ended, by memory id."""
    read = {id_: outcome for id_, outcome in outcomes.items() if isinstance(outcome, Extracted)}
    units = [unit for unit in rows.units if unit.unit_id in read]
    store_spending(store, scope, [Reading(unit.memory_id, batch_id, read[unit.unit_id]) for unit in units])

    def store_some(some: Sequence[Unit]) -> Failed:
        _store(store, scope, some, read, prompt_version)
        return {}

    most = settings.entity_extract_max_attempts
    failed = try_each(units, store_some, EXTRACTION) if units else {}
    log_tries(store, scope, units, failed, settings, values=rows.values, only=EXTRACTION, max_attempts=most)
    ends = dict.fromkeys((unit.unit_id for unit in rows.units), attempts.REFUNDED)
    ends |= {id_: attempts.FAILED if failed[id_] else attempts.DONE for id_ in read}
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
    """In one insert; the first result of a row version is the one that stands (D39)."""
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
