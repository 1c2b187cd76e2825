"""The queries that run now: who asked, since when; and an end for those whose reader has left."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from loom_core.embedded.protocol import Query
from loom_core.embedded.query_text import StatementError

log = logging.getLogger(__name__)

_LOOK_EVERY_S = 0.25


@dataclass(slots=True)
class _Entry:
    query: Query
    peer: socket.socket
    since: float
    killed: bool = False


class Running:
    """All queries in flight, by query id. `kill` ends the queries with a marker; it may be called twice."""

    def __init__(self, kill: Callable[[str], None]) -> None:
        self._kill = kill
        self._entries: dict[str, _Entry] = {}
        self._lock = threading.Lock()
        self._none_left = threading.Condition(self._lock)
        self._total = 0
        self._failed = 0
        self._ending = False

    @contextmanager
    def entered(self, query: Query, peer: socket.socket) -> Iterator[None]:
        """Hold `query` as running.

        Raises `StatementError` where its id is running already, `ConnectionAbortedError` at the end.
        """
        with self._lock:
            if self._ending:
                raise ConnectionAbortedError("no more queries are taken")
            if query.query_id in self._entries:
                name = "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING"
                raise StatementError(216, name, f"Query with id = {query.query_id} is already running")
            self._entries[query.query_id] = _Entry(query, peer, time.monotonic())
            self._total += 1
        failed = 1
        try:
            yield
            failed = 0
        finally:
            with self._lock:
                self._failed += failed
                del self._entries[query.query_id]
                self._none_left.notify_all()

    def end(self, timeout_s: float) -> bool:
        """Take no more queries and wait for those that run: True once there is none, False after so long."""
        with self._lock:
            self._ending = True
            return self._none_left.wait_for(lambda: not self._entries, timeout_s)

    def kill_all(self) -> None:
        """End every running query."""
        for entry in list(self._entries.values()):
            self._kill(entry.query.marker)

    def watch(self, until: threading.Event) -> None:
        """Kill reads whose peer has closed the connection, until the event is set. Writes go on."""
        while not until.wait(_LOOK_EVERY_S):
            now = time.monotonic()
            for entry in list(self._entries.values()):
                old = now - entry.since > _LOOK_EVERY_S
                if old and entry.query.statement.is_read and not entry.killed and _has_left(entry.peer):
                    entry.killed = True
                    log.info("query %s is killed: its reader has left", entry.query.query_id)
                    self._kill(entry.query.marker)

    def metrics(self) -> str:
        """The figures in Prometheus's text format."""
        with self._lock:
            oldest = min((entry.since for entry in self._entries.values()), default=time.monotonic())
            values = {
                "queries_running": len(self._entries),
                "queries_total": self._total,
                "queries_failed_total": self._failed,
                "oldest_query_seconds": round(time.monotonic() - oldest, 3),
            }
        return "".join(f"loom_clickhouse_{name} {value}\n" for name, value in values.items())


def _has_left(peer: socket.socket) -> bool:
    try:
        return peer.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
