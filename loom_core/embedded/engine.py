"""chDB: opens a data folder, runs statements on pooled connections. The only module that imports chDB.

A chDB connection has its own settings and database and takes one statement at a time; several of them on one
folder run at once. Opening one costs 0.1 ms, setting it up 0.3 ms, so that a connection is kept for the next
request with the same settings and never set up anew.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import chdb

from loom_core.embedded.outcome import Counts, EngineError, Settings

_MAX_IDLE = 64
_PIECE = 1 << 20


class Whole:
    """The complete answer of a statement, still in the engine's memory."""

    def __init__(self, result: Any) -> None:
        # A view of the engine does not keep its memory alive: the result must outlive every look at it.
        self._result = result
        self.size: int = result.size()

    def pieces(self) -> Iterator[bytes]:
        """The answer in copies of at most 1 MiB, so that a large one is never held twice."""
        if self.size:
            view = self._result.get_memview().view()
            for start in range(0, self.size, _PIECE):
                yield bytes(view[start : start + _PIECE])


@dataclass(slots=True)
class Session:
    """A borrowed connection, its settings applied. For one thread at a time."""

    connection: Any
    counts: Counts = field(default_factory=Counts)
    reusable: bool = True

    def query(self, sql: bytes, output_format: str, params: dict[str, str]) -> Whole:
        """The whole answer of one statement. Raises `EngineError`."""
        result = _raised_as_ours(lambda: self.connection.query(sql, output_format, params=params))
        self.counts.add(result)
        return Whole(result)

    def stream(self, sql: bytes, output_format: str, params: dict[str, str]) -> Iterator[bytes]:
        """The answer of a SELECT, a piece a block, as the engine makes them. Raises `EngineError`.

        Each piece is a document of the format by itself: only formats without a frame can be joined.
        """
        connection = self.connection
        stream = _raised_as_ours(lambda: connection.send_query(sql, output_format, params=params))
        self.reusable = False
        exhausted = False
        try:
            while True:
                result = _raised_as_ours(lambda: connection.streaming_fetch_result(stream))
                if not result.size():
                    break
                self.counts.add(result)
                yield result.bytes()
            exhausted = True
        except EngineError:
            exhausted = True
            raise
        finally:
            self.reusable = exhausted
            if not exhausted:
                connection.streaming_cancel_query(stream)

    def insert(self, head: bytes, data_format: str, params: dict[str, str], pieces: Iterator[bytes]) -> None:
        """INSERT data that comes in pieces. Raises `EngineError`, and what `pieces` raises: then the engine
        drops what it has not written yet (a block of about a million rows at a time).
        """
        connection = self.connection
        self.reusable = False
        if params:
            _set(connection, {f"param_{name}": value for name, value in params.items()}.items())
        stream = _raised_as_ours(lambda: connection.send_insert(head, data_format))
        try:
            for piece in pieces:
                _raised_as_ours(partial(connection.insert_append, stream, piece))
        except BaseException:
            connection.insert_cancel(stream)
            raise
        self.counts.add(_raised_as_ours(lambda: connection.insert_done(stream)))
        self.reusable = not params


class Engine:
    """One open data folder. Any thread may borrow sessions.

    Raises `EngineError` where the folder can't be opened, e.g. while another process has it open (code 76).
    """

    def __init__(self, path: Path, config_file: Path, log_level: str) -> None:
        self._path = str(path)
        # chDB would otherwise take over SIGTERM and the crash signals of the process.
        chdb._chdb.set_signal_handlers_enabled(0)
        options = f"config-file={config_file}&log-level={log_level}"
        self._keeper = _raised_as_ours(lambda: chdb._chdb.connect(f"{path}?{options}"))
        self._idle: OrderedDict[tuple[str, Settings], list[Any]] = OrderedDict()
        self._idle_count = 0
        self._lock = threading.Lock()
        self._closed = False
        row: bytes = self._keeper.query("SELECT version(), timezone()", "TSV").bytes()
        self.version, self.timezone = row.decode().strip().split("\t")

    def borrow(self, database: str, settings: Settings) -> Session:
        """A session with `settings` applied and `database` current. Raises `EngineError`."""
        with self._lock:
            waiting = self._idle.get((database, settings))
            if waiting:
                self._idle_count -= 1
                connection = waiting.pop()
                if not waiting:
                    del self._idle[(database, settings)]
                return Session(connection)
        connection = _raised_as_ours(lambda: chdb._chdb.connect(self._path))
        try:
            if settings:
                _set(connection, settings)
            if database:
                name = "`" + database.replace("\\", "\\\\").replace("`", "\\`") + "`"
                _raised_as_ours(lambda: connection.query(f"USE {name}", "Null"))
        except EngineError:
            connection.close()
            raise
        return Session(connection)

    def give_back(self, session: Session, database: str, settings: Settings) -> None:
        """Return a borrowed session; the oldest idle connection makes room where too many wait."""
        spare: list[Any] = []
        with self._lock:
            if session.reusable and not self._closed:
                self._idle.setdefault((database, settings), []).append(session.connection)
                self._idle.move_to_end((database, settings))
                self._idle_count += 1
                if self._idle_count > _MAX_IDLE:
                    oldest = next(iter(self._idle))
                    spare.append(self._idle[oldest].pop(0))
                    self._idle_count -= 1
                    if not self._idle[oldest]:
                        del self._idle[oldest]
            else:
                spare.append(session.connection)
        for connection in spare:
            connection.close()

    def kill(self, marker: str) -> int:
        """Cancel the running statements whose text ends in `marker`; how many there were."""
        sql = f"KILL QUERY WHERE endsWith(query, {_quoted(marker)}) ASYNC"
        connection = chdb._chdb.connect(self._path)
        try:
            return int(_raised_as_ours(lambda: connection.query(sql, "TSV")).rows_read())
        finally:
            connection.close()

    def close(self) -> None:
        """Close every idle connection and the folder: parts and logs are flushed. No session may be out."""
        with self._lock:
            self._closed = True
            connections = [connection for waiting in self._idle.values() for connection in waiting]
            self._idle.clear()
        for connection in connections:
            connection.close()
        self._keeper.close()


def _raised_as_ours(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except RuntimeError as error:
        raise EngineError(str(error)) from None


def _set(connection: Any, settings: Iterable[tuple[str, str]]) -> None:
    pairs = ", ".join(f"{_setting_name(name)} = {_quoted(value)}" for name, value in settings)
    _raised_as_ours(lambda: connection.query(f"SET {pairs}", "Null"))


def _setting_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", name):
        raise EngineError(f"Code: 115. DB::Exception: Unknown setting {name!r}. (UNKNOWN_SETTING)")
    return name


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
