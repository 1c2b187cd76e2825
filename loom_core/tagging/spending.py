"""What a language model costs: one row a text that was read, and a ceiling for the UTC day over their sum."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from loom_core.extraction.outcomes import Extracted
from loom_core.memory.rows import digest
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

COLUMNS = (
    "day", "call_id", "org", "namespace", "model", "input_tokens", "output_tokens", "cost_usd"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """One text that was read, under the batch it was tried in."""

    memory_id: str
    batch_id: str
    outcome: Extracted


class DailyBudget:
    """`LOOM_LLM_DAILY_BUDGET_USD`, for the whole fleet. Thread-safe.

    What other processes spend counts once a batch of theirs is stored, so the ceiling can be passed by the
    calls in flight. A model without a known price costs nothing here.
    """

    def __init__(self, store: Store, limit_usd: float) -> None:
        self._store = store
        self._limit_usd = limit_usd
        self._lock = threading.Lock()
        self._spent_usd = 0.0

    def refresh(self) -> bool:
        """Reads what was spent today; whether anything is left. Raises `Unavailable` if the store is away."""
        if not self._limit_usd:
            return True
        stored = float(
            self._store.rows(sql("tagging.spent"), day=datetime.now(UTC).date().isoformat())[0][0] or 0
        )
        with self._lock:
            self._spent_usd = stored
        return self.may_spend()

    def may_spend(self) -> bool:
        """Whether another call may be made, as far as this process knows."""
        with self._lock:
            return not self._limit_usd or self._spent_usd < self._limit_usd

    def spent(self, usd: float) -> None:
        """A call was made that cost so much."""
        with self._lock:
            self._spent_usd += usd


def store_spending(store: Store, scope: Scope, readings: Sequence[Reading]) -> None:
    """Writes down what these readings cost; the same one stored twice is one row, a free one is left out."""
    today = datetime.now(UTC).date()
    store.insert(
        "llm_spend",
        COLUMNS,
        [
            [today, digest("call", scope.org, scope.namespace, each.memory_id, each.batch_id), scope.org,
             scope.namespace, each.outcome.model, each.outcome.tokens_in, each.outcome.tokens_out,
             each.outcome.cost_usd]
            for each in readings
            if each.outcome.tokens_in or each.outcome.tokens_out
        ],
    )  # fmt: skip
