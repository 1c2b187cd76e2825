"""Remembers which namespaces are walked: `entity_communities` covers those walked lately (D45)."""

from __future__ import annotations

import threading
from datetime import UTC, date, datetime

import structlog

from loom_core.errors import LoomError
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

log = structlog.get_logger(__name__)


class WalkLog:
    """One line a namespace, day and process at most. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._day = date.min
        self._noted: set[Scope] = set()

    def note(self, scope: Scope) -> None:
        """Notes a walk. It never fails the read it notes: the next walk tries again."""
        today = datetime.now(UTC).date()
        with self._lock:
            if self._day != today:
                self._day, self._noted = today, set()
            if scope in self._noted:
                return
            self._noted.add(scope)
        try:
            self._store.insert(
                "namespace_walks", ["org", "namespace", "day"], [[scope.org, scope.namespace, today]]
            )
        except LoomError as error:
            log.warning("walk_not_noted", code=error.code)
            with self._lock:
                self._noted.discard(scope)
