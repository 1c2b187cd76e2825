"""What the server needs from the services behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from prometheus_client.registry import Collector

from loom_core.tenancy import CallContext, Scope


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The answer to a write, kept under its Idempotency-Key. `request_sha256` tells another request apart."""

    request_sha256: str
    body: Mapping[str, Any]


class IdempotencyStore(Protocol):
    """Answers to writes, as rows: a retry after a lost answer gets the first one again."""

    def get(self, scope: Scope, op: str, key: str) -> StoredAnswer | None:
        """The answer stored under that key, or None."""

    def put(self, scope: Scope, op: str, key: str, answer: StoredAnswer, memory_keys: Sequence[str]) -> None:
        """Store an answer. `memory_keys`: the rows it speaks of; erasing one takes the answer too (D36)."""


class AuditLog(Protocol):
    """Who called which audited operation, and how it ended."""

    def note(self, context: CallContext, op: str, outcome: str) -> None:
        """Writes one line down. Never a value."""


class Services(Protocol):
    """One attribute a group of ops, one method an op: `services.memory.set(ctx, request)`.

    A handler is synchronous and thread-safe; it takes a `CallContext` and the op's request, and returns the
    op's response model, or a dict that validates as one. Of a bulk request it answers for `accepted` only:
    the server adds the entries that failed validation to `refused`.
    """

    memory: Any
    facts: Any
    namespace: Any
    ops: Any

    @property
    def idempotency(self) -> IdempotencyStore:
        """Where answers to writes are kept."""

    @property
    def audit(self) -> AuditLog:
        """Where audited calls are written down."""

    @property
    def fleet_metrics(self) -> Collector | None:
        """Collects the fleet's metrics, bounded in time; None where no fleet is known."""

    def ready(self) -> Mapping[str, bool]:
        """By part (`clickhouse`, `redis`, `migrations`): whether it can serve. Never raises for an outage."""

    def close(self) -> None:
        """Close connections."""
