"""Audit rows: who called which audited operation, and how it ended. Kept for a year."""

from __future__ import annotations

from loom_core import clock
from loom_core.storage.store import Store
from loom_core.tenancy import CallContext


class AuditRows:
    """Appends to `loom.audit`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def note(self, context: CallContext, op: str, outcome: str) -> None:
        """Writes one line down. Raises `Unavailable` while the store is away."""
        scope = context.scope
        self._store.insert(
            "audit",
            ("org", "namespace", "at", "op", "agent", "role", "request_id", "outcome", "detail"),
            [[scope.org, scope.namespace, clock.now(), op, context.agent or "", context.role, context.request_id,
              outcome, ""]],
        )  # fmt: skip
