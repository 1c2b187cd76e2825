"""HTTP/1.1 requests off a socket: as much of it as a ClickHouse client uses, and no more."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from typing import Protocol
from urllib.parse import unquote_plus, urlsplit

MAX_LINE = 1 << 20
"""A request line holds the query's settings and parameters; clients move longer ones into a form."""
MAX_HEADERS = 128
DRAIN_LIMIT = 256 << 20
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_DIGITS = re.compile(rb"[0-9]+\Z")
_HEX = re.compile(rb"[0-9A-Fa-f]{1,15}\Z")


class BadRequest(Exception):
    """The bytes are no HTTP request this server reads; the connection closes after the answer."""


class Body(Protocol):
    """A request's body, read once, front to back."""

    def read(self, limit: int) -> bytes:
        """At most `limit` bytes; b"" at the end. Raises `BadRequest` where the body is cut short."""


@dataclass(slots=True)
class Request:
    """One request. `headers` has lower-case names, `args` the decoded query string in its order."""

    method: str
    path: str
    args: list[tuple[str, str]]
    headers: dict[str, str]
    body: Body
    keep_alive: bool


class SizedBody:
    """A body of a known length in bytes."""

    def __init__(self, source: BufferedReader, length: int) -> None:
        self._source = source
        self._left = length

    def read(self, limit: int) -> bytes:
        wanted = min(limit, self._left)
        if not wanted:
            return b""
        data = self._source.read(wanted)
        if len(data) < wanted:
            raise BadRequest("the body ended before its Content-Length")
        self._left -= len(data)
        return data


class ChunkedBody:
    """A body in chunks, each with its length ahead."""

    def __init__(self, source: BufferedReader) -> None:
        self._source = source
        self._left = 0
        self._done = False

    def read(self, limit: int) -> bytes:
        if self._done:
            return b""
        if not self._left and not self._next_chunk():
            return b""
        data = self._source.read(min(limit, self._left))
        if not data:
            raise BadRequest("the body ended within a chunk")
        self._left -= len(data)
        if not self._left and self._source.readline(3) != b"\r\n":
            raise BadRequest("a chunk does not end with a line end")
        return data

    def _next_chunk(self) -> bool:
        size = _line(self._source).partition(b";")[0].strip()
        if not _HEX.match(size):
            raise BadRequest("a chunk's size is not a hexadecimal number")
        self._left = int(size, 16)
        if self._left:
            return True
        while _line(self._source):
            pass
        self._done = True
        return False


class ContinuedBody:
    """A body whose sender waits for `100 Continue` before the first byte."""

    def __init__(self, body: Body, peer: socket.socket) -> None:
        self._body = body
        self._peer: socket.socket | None = peer

    def read(self, limit: int) -> bytes:
        if self._peer is not None:
            self._peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            self._peer = None
        return self._body.read(limit)


def read_request(source: BufferedReader, peer: socket.socket) -> Request | None:
    """The next request on a connection, or None where the peer has closed it.

    Raises `BadRequest`, and whatever the socket raises.
    """
    line = source.readline(MAX_LINE + 1)
    if not line:
        return None
    parts = _stripped(line).decode("latin-1").split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise BadRequest("not an HTTP/1 request line")
    method, target, version = parts
    headers = _headers(source)
    body = _body(source, headers)
    if headers.get("expect", "").lower() == "100-continue":
        body = ContinuedBody(body, peer)
    url = urlsplit(target)
    keep_alive = version != "HTTP/1.0" and headers.get("connection", "").lower() != "close"
    return Request(method, url.path, list(_args(url.query)), headers, body, keep_alive)


def _line(source: BufferedReader) -> bytes:
    return _stripped(source.readline(MAX_LINE + 1))


def _stripped(line: bytes) -> bytes:
    if not line.endswith(b"\n"):
        raise BadRequest("a line is too long or cut short")
    return line.rstrip(b"\r\n")


def _headers(source: BufferedReader) -> dict[str, str]:
    headers: dict[str, str] = {}
    while line := _line(source):
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or not _TOKEN.match(name):
            raise BadRequest("a header has no name")
        name = name.lower()
        if name in headers and name in ("content-length", "transfer-encoding", "host"):
            raise BadRequest(f"{name} is given twice")
        if len(headers) >= MAX_HEADERS:
            raise BadRequest("too many headers")
        headers[name] = value.strip()
    return headers


def _body(source: BufferedReader, headers: dict[str, str]) -> Body:
    coding = headers.get("transfer-encoding")
    length = headers.get("content-length")
    if coding is not None:
        if length is not None or coding.lower() != "chunked":
            raise BadRequest("the body's length is ambiguous")
        return ChunkedBody(source)
    if length is not None and not _DIGITS.match(length.encode("latin-1")):
        raise BadRequest("Content-Length is not a number")
    return SizedBody(source, int(length or 0))


def _args(query: str) -> Iterator[tuple[str, str]]:
    for pair in query.split("&"):
        if pair:
            name, _, value = pair.partition("=")
            yield unquote_plus(name), unquote_plus(value, errors="surrogateescape")


def drain(body: Body) -> bool:
    """Read what is left of a body, so that the peer reads the answer instead of a reset. False: too much."""
    left = DRAIN_LIMIT
    while left > 0:
        data = body.read(1 << 20)
        if not data:
            return True
        left -= len(data)
    return False
