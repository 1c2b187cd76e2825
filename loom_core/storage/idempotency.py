"""Answers to writes that carried an Idempotency-Key, as rows: a retry after a lost answer gets the first one."""

from __future__ import annotations

import json
from collections.abc import Sequence

from loom_core import clock
from loom_core.server.protocol import StoredAnswer
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope


class IdempotencyAnswers:
    """Kept for two days; erasing a row takes the answers that speak of it along (D36)."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, scope: Scope, op: str, key: str) -> StoredAnswer | None:
        """The answer stored for that op under that key."""
        found = self._store.rows(
            sql("idempotency.get"), org=scope.org, namespace=scope.namespace, key=key, op=op
        )
        return StoredAnswer(found[0][0], json.loads(found[0][1])) if found else None

    def put(self, scope: Scope, op: str, key: str, answer: StoredAnswer, memory_keys: Sequence[str]) -> None:
        """Stores an answer and the keys it speaks of."""
        self._store.insert(
            "idempotency_answers",
            ("org", "namespace", "idempotency_key", "op", "request_sha256", "status", "answer", "memory_keys", "at"),
            [[scope.org, scope.namespace, key, op, answer.request_sha256, 200, json.dumps(answer.body),
              list(memory_keys), clock.now()]],
        )  # fmt: skip
