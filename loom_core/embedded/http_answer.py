"""HTTP/1.1 answers onto a socket.

An answer's head and first body bytes leave in one write: two small writes in a row wait 40 ms for the peer's
delayed acknowledgement.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable

_REASONS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 500: "Internal Server Error"}


def _head(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS[status]}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def send(peer: socket.socket, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
    """A whole answer with its length, in one write."""
    peer.sendall(_head(status, [*headers, ("Content-Length", str(len(body)))]) + body)


class ChunkedAnswer:
    """An answer whose length is not known when it begins."""

    def __init__(self, peer: socket.socket, headers: list[tuple[str, str]]) -> None:
        self._peer = peer
        self._head = _head(200, [*headers, ("Transfer-Encoding", "chunked")])

    def write(self, data: bytes) -> None:
        """Send one chunk; nothing where it is empty, as an empty chunk would be the end."""
        if data:
            self._peer.sendall(b"%b%x\r\n%b\r\n" % (self._head, len(data), data))
            self._head = b""

    def end(self) -> None:
        """Send the end. Without it the reader knows that the answer is broken."""
        self._peer.sendall(self._head + b"0\r\n\r\n")
