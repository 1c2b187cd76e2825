"""Stands between clients and ClickHouse and makes what networks and load balancers make of a request."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

PASS, UNAVAILABLE, DROP_INSERTS = "pass", "answers 503", "drops the socket after an INSERT"
HOP = {"connection", "transfer-encoding", "content-length", "keep-alive"}


@dataclass
class Proxy:
    """`mode` may change while it serves. `dropped` counts INSERTs that were executed and never answered."""

    url: str
    mode: str = PASS
    dropped: int = 0


@contextmanager
def proxy_before(clickhouse_url: str) -> Iterator[Proxy]:
    """A proxy on a free port for as long as the block lasts."""
    target = urlsplit(clickhouse_url)
    assert target.hostname

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            self._forward(b"")

        def do_POST(self) -> None:
            self._forward(self._body())

        def _body(self) -> bytes:
            if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            chunks = []
            while size := int(self.rfile.readline(), 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(chunks)

        def _forward(self, body: bytes) -> None:
            if proxy.mode == UNAVAILABLE:
                self._answer(503, {}, b"upstream unavailable")
                return
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
            connection = http.client.HTTPConnection(str(target.hostname), target.port, timeout=60)
            try:
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                content = answer.read()
            finally:
                connection.close()
            if proxy.mode == DROP_INSERTS and "INSERT INTO" in unquote(self.path) + str(body[:100]):
                proxy.dropped += 1
                self.close_connection = True
                return
            kept = {name: value for name, value in answer.getheaders() if name.lower() not in HOP}
            self._answer(answer.status, kept, content)

        def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the tests' output is theirs."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy = Proxy(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
