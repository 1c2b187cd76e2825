"""A request's statement and data out of its `query` argument and its body.

An INSERT's data never goes to the engine as part of a text: there it would end at the first blank line, two
bytes that any integer of 2570 holds, and what follows would run as the next statement.
"""

from __future__ import annotations

from collections.abc import Iterator

from loom_core.embedded.http_request import BadRequest, Body
from loom_core.embedded.statement import MalformedStatement, Statement, parse

_HEAD_LIMIT = 64 << 10
TEXT_LIMIT = 64 << 20
_PIECE = 1 << 20


class StatementError(Exception):
    """Refused before the engine saw it. `code` is the one ClickHouse uses."""

    def __init__(self, code: int, name: str, message: str) -> None:
        super().__init__(f"Code: {code}. DB::Exception: {message}. ({name})")
        self.code = code


def refusal(message: str) -> StatementError:
    """What is possible on a server but not here."""
    return StatementError(48, "NOT_IMPLEMENTED", message)


class _NoBody:
    def read(self, limit: int) -> bytes:  # noqa: ARG002  # nothing, whatever the limit
        return b""


NO_BODY: Body = _NoBody()


def read_statement(argument: str, body: Body) -> tuple[Statement, bytes, Iterator[bytes] | None]:
    """The statement; its text, of an INSERT with data only the head; and the data, where there is any.

    `argument` and `body` are one text, in this order. Raises `StatementError`, `BadRequest`.
    """
    held, ended = read_over(body, _HEAD_LIMIT)
    text = argument.encode("utf-8", "surrogateescape")
    text = text + b"\n" + held if text and held else text + held
    if not ended and _data_of(text) is None:
        rest, ended = read_over(body, TEXT_LIMIT)
        if not ended:
            raise BadRequest(f"a query's text is over {TEXT_LIMIT >> 20} MiB")
        text += rest
    try:
        statement = parse(text)
    except MalformedStatement as error:
        raise StatementError(62, "SYNTAX_ERROR", f"Syntax error: {error}") from None
    if statement.data_at is None:
        return statement, text, None
    return statement, statement.head, _pieces(text[statement.data_at :], body)


def _data_of(beginning: bytes) -> int | None:
    try:
        return parse(beginning).data_at
    except MalformedStatement:  # cut within a string, perhaps: the whole text decides
        return None


def read_over(body: Body, limit: int) -> tuple[bytes, bool]:
    """More than `limit` bytes, or all there are; whether the body has ended."""
    parts: list[bytes] = []
    size = 0
    while size <= limit:
        part = body.read(_PIECE)
        if not part:
            return b"".join(parts), True
        parts.append(part)
        size += len(part)
    return b"".join(parts), False


def _pieces(first: bytes, body: Body) -> Iterator[bytes]:
    if first:
        yield first
    while piece := body.read(_PIECE):
        yield piece
