"""What runs on one connection of the engine: a statement whole, streamed, or fed with data."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from loom_core.embedded.outcome import Counts, EngineError

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
        result = translated(lambda: self.connection.query(sql, output_format, params=params))
        self.counts.add(result)
        return Whole(result)

    def stream(self, sql: bytes, output_format: str, params: dict[str, str]) -> Iterator[bytes]:
        """The answer of a SELECT, a piece a block, as the engine makes them. Raises `EngineError`.

        Each piece is a document of the format by itself: only formats without a frame can be joined.
        """
        connection = self.connection
        stream = translated(lambda: connection.send_query(sql, output_format, params=params))
        self.reusable = False
        exhausted = False
        try:
            while True:
                result = translated(lambda: connection.streaming_fetch_result(stream))
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

    def insert(
        self, sql: Callable[[str, int], bytes], params: dict[str, str], pieces: Iterator[bytes]
    ) -> None:
        """The INSERT that `sql` makes of the file its data is in, `pieces` joined: its name, its size in bytes.

        The data is whole before the engine sees any. Not by the engine's own streaming insert: that answers
        success whatever fails after the last piece, a full disk and a broken constraint included.
        Raises `EngineError`, and what `pieces` raises: then nothing is inserted.
        """
        with open(os.memfd_create("insert"), "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            self.query(sql(f"/proc/self/fd/{file.fileno()}", file.tell()), "Null", params)


def translated(call: Callable[[], Any]) -> Any:
    """The result of a call into the engine, its exceptions as `EngineError`."""
    try:
        return call()
    except RuntimeError as error:
        raise EngineError(str(error)) from None


def set_on(connection: Any, settings: Iterable[tuple[str, str]]) -> None:
    """Apply settings to a connection. Raises `EngineError`."""
    pairs = ", ".join(f"{_setting_name(name)} = {quoted(value)}" for name, value in settings)
    translated(lambda: connection.query(f"SET {pairs}", "Null"))


def _setting_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", name):
        raise EngineError(f"Code: 115. DB::Exception: Unknown setting {name!r}. (UNKNOWN_SETTING)")
    return name


def quoted(text: str) -> str:
    """A string as a SQL literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
