"""One request's way through the engine: run, answer, count."""

from __future__ import annotations

import logging
import secrets
import socket
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial

from loom_core.embedded.coding import Encoder, encoder_for
from loom_core.embedded.engine import Engine
from loom_core.embedded.formats import ARROW_STREAM, join_arrow, joins
from loom_core.embedded.http_answer import ChunkedAnswer, send
from loom_core.embedded.http_request import Request, drain
from loom_core.embedded.outcome import EngineError
from loom_core.embedded.protocol import Query, headers_of, read_query, summary_of
from loom_core.embedded.query_text import StatementError
from loom_core.embedded.running import Running
from loom_core.embedded.session import Session

log = logging.getLogger(__name__)

_HOLD = 1 << 20
"""Bytes of an answer that are held back, so that it can be sent with its length and its summary."""
_COMPRESS_FROM = 1 << 10
_PARALLEL_FROM = 1 << 20
_ALONE = b"SETTINGS max_threads = 1, input_format_parallel_parsing = 0"
"""For an INSERT of fewer bytes: threads would cost it a quarter more."""
_LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")


class Handler:
    """Answers the requests of all connections. Thread-safe."""

    def __init__(self, engine: Engine, running: Running) -> None:
        self._engine = engine
        self._running = running

    def answer(self, request: Request, peer: socket.socket) -> bool:
        """Answer one request; False where the connection can't be used again."""
        if not _is_from_a_client(request):
            send(peer, 403, [("Connection", "close")], b"This server answers local clients only.\n")
            return False
        if request.path == "/" and (request.method == "POST" or request.args):
            return self._answer_query(request, peer) and request.keep_alive
        if request.path in ("/", "/ping"):
            send(peer, 200, [("Content-Type", "text/plain")], b"Ok.\n")
        elif request.path == "/metrics":
            send(peer, 200, [("Content-Type", "text/plain; version=0.0.4")], self._running.metrics().encode())
        else:
            send(peer, 404, [("Content-Type", "text/plain")], b"There is no such page.\n")
        return drain(request.body) and request.keep_alive

    def _answer_query(self, request: Request, peer: socket.socket) -> bool:
        try:
            query = read_query(request)
            with self._running.entered(query, peer):
                return self._run(query, peer)
        except (EngineError, StatementError) as error:
            usable = drain(request.body)
            text = f"{error} (version {self._engine.version})\n"
            headers = [("Content-Type", "text/plain"), ("X-ClickHouse-Exception-Code", str(error.code))]
            send(peer, 500, headers, text.encode("utf-8", "replace"))
            return usable

    def _run(self, query: Query, peer: socket.socket) -> bool:
        started = time.monotonic()
        session = self._engine.borrow(query.database, query.settings)
        try:
            # Closed before the session is given back: an answer that nobody reads any more still runs.
            with closing(_pieces(query, session)) as pieces:
                return _send_answer(query, session, pieces, self._engine.timezone, started, peer)
        finally:
            self._engine.give_back(session, query.database, query.settings)


def _is_from_a_client(request: Request) -> bool:
    """False for a web page's request: there is no login, and any page may send requests to localhost."""
    host = request.headers.get("host", "localhost")
    name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
    return "origin" not in request.headers and name in _LOCAL_HOSTS


def _is_streamed(query: Query) -> bool:
    return query.statement.is_read and joins(query.output_format)


def _pieces(query: Query, session: Session) -> Generator[bytes]:
    """Run the statement; its answer in pieces."""
    text = b"%b\n%b" % (query.text, query.marker.encode())
    if query.data is not None:
        session.insert(partial(_insert_from, query), query.params, query.data)
    elif _is_streamed(query):
        pieces = session.stream(text, query.output_format, query.params)
        yield from join_arrow(pieces) if query.output_format == ARROW_STREAM else pieces
    else:
        yield from session.query(text, query.output_format, query.params).pieces()


def _insert_from(query: Query, file: str, size: int) -> bytes:
    statement = query.statement
    settings = statement.settings or (_ALONE if size < _PARALLEL_FROM else b"")
    source, data_format = f"FROM INFILE '{file}'".encode(), f"FORMAT {statement.format}".encode()
    return b"\n".join((statement.head, source, settings, data_format, query.marker.encode()))


def _send_answer(
    query: Query,
    session: Session,
    pieces: Iterator[bytes],
    timezone: str,
    started: float,
    peer: socket.socket,
) -> bool:
    # An answer that the engine has made whole can't fail any more, and is in memory once already.
    hold_all = query.whole and _is_streamed(query)
    held: list[bytes] = []
    size = 0
    ended = True
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > _HOLD and not hold_all:
            ended = False
            break
    headers = headers_of(query, timezone)
    headers.append(summary_of(session.counts, time.monotonic() - started))
    coding = encoder_for(query.accepted_codings) if size >= _COMPRESS_FROM else None
    if coding is not None:
        headers.append(("Content-Encoding", coding[0]))
    encoder = coding[1] if coding is not None else None
    if ended and size <= _HOLD:
        body = b"".join(held)
        send(peer, 200, headers, encoder.compress(body) + encoder.flush() if encoder else body)
        return True
    tag = secrets.token_hex(8)
    answer = ChunkedAnswer(peer, [*headers, ("X-ClickHouse-Exception-Tag", tag)])
    while held:
        _write(answer, held.pop(0), encoder)
    try:
        for piece in pieces:
            _write(answer, piece, encoder)
    except EngineError as error:
        log.info("query %s failed within its answer: %s", query.query_id, error)
        _write(answer, _broken_off(str(error), tag), encoder)
        return False
    if encoder is not None:
        answer.write(encoder.flush())
    answer.end()
    return True


def _write(answer: ChunkedAnswer, piece: bytes, encoder: Encoder | None) -> None:
    answer.write(encoder.compress(piece) if encoder is not None else piece)


def _broken_off(message: str, tag: str) -> bytes:
    """How ClickHouse reports an exception within an answer: a block between two tagged lines."""
    text = message + "\n"
    return f"__exception__\r\n{tag}\r\n{text}{len(text)} {tag}\r\n__exception__\r\n".encode()
