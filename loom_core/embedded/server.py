"""Connections: a thread each, kept open until the peer closes.

An idle connection is never closed from here, except at the end: a client that writes at that moment could not
know whether its INSERT ran.
"""

from __future__ import annotations

import logging
import socket
import threading
from functools import partial
from io import BufferedReader

from loom_core.embedded.handler import Handler
from loom_core.embedded.http_answer import send
from loom_core.embedded.http_request import BadRequest, read_request
from loom_core.embedded.running import Running

log = logging.getLogger(__name__)

_BACKLOG = 512
_KILL_WAIT_S = 5.0


class Server:
    """Serves one listening socket. Raises `OSError` where the address can't be bound."""

    def __init__(self, handler: Handler, running: Running, host: str, port: int) -> None:
        self._handler = handler
        self._running = running
        self._stopping = threading.Event()
        self._connections: dict[socket.socket, bool] = {}
        """Each open connection, and whether a request of it is being answered."""
        self._lock = threading.Lock()
        self._listener = socket.create_server((host, port), backlog=_BACKLOG, family=_family(host))
        self.port: int = self._listener.getsockname()[1]

    def start(self) -> None:
        """Accept connections from now on, in threads of their own."""
        watch = partial(self._running.watch, self._stopping)
        for name, target in (("accept", self._accept), ("watch", watch)):
            threading.Thread(target=target, name=name, daemon=True).start()

    def stop(self, grace_s: float) -> bool:
        """Take no more requests, let running queries end for `grace_s` seconds, then kill them.

        False where a query is still running after that.
        """
        self._stopping.set()
        self._listener.close()
        with self._lock:
            for connection, busy in self._connections.items():
                if not busy:
                    _end_reading(connection)
        if self._running.end(grace_s):
            return True
        log.warning("queries still run after %s s: they are killed", grace_s)
        self._running.kill_all()
        return self._running.end(_KILL_WAIT_S)

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError as error:
                if not self._stopping.is_set():
                    log.error("accept failed: %s", error)
                    self._stopping.wait(0.1)  # e.g. out of file descriptors
                continue
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), name="connection", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections[connection] = False
        try:
            with connection, connection.makefile("rb") as source:
                self._serve_requests(connection, source)
        except OSError as error:
            log.debug("a connection broke: %s", error)
        except Exception:
            log.exception("a request failed")
        finally:
            with self._lock:
                del self._connections[connection]

    def _serve_requests(self, connection: socket.socket, source: BufferedReader) -> None:
        while not self._stopping.is_set():
            try:
                request = read_request(source, connection)
                if request is None:
                    return
                with self._lock:
                    self._connections[connection] = True
                usable = self._handler.answer(request, connection)
            except BadRequest as error:
                send(connection, 400, [("Connection", "close")], f"{error}\n".encode())
                return
            with self._lock:
                self._connections[connection] = False
            if not usable:
                return


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _end_reading(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RD)
    except OSError as error:
        log.debug("a connection had ended: %s", error)
