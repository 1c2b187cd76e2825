"""The owner as other programs meet it: plain HTTP, web pages, broken requests, idle connections."""

import http.client
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.servers import ServerProcess, wait_until


@pytest.fixture
def http_(owner: ServerProcess) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", owner.port, timeout=20)
    yield connection
    connection.close()


def ask(
    connection: http.client.HTTPConnection, method: str, path: str, body: str = "", **headers: str
) -> tuple[int, bytes]:
    connection.request(method, path, body.encode(), headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_pages(http_: http.client.HTTPConnection) -> None:
    assert ask(http_, "GET", "/ping") == (200, b"Ok.\n")
    assert ask(http_, "GET", "/") == (200, b"Ok.\n")
    assert ask(http_, "GET", "/?query=SELECT%201") == (200, b"1\n")
    assert ask(http_, "POST", "/", "SELECT 1 FORMAT JSONEachRow") == (200, b'{"1":1}\n')
    assert ask(http_, "GET", "/no-such-page")[0] == 404
    status, text = ask(http_, "GET", "/metrics")
    assert status == 200
    assert b"loom_clickhouse_queries_total " in text


def test_a_web_page_can_not_reach_the_data(http_: http.client.HTTPConnection) -> None:
    assert ask(http_, "POST", "/", "SELECT 1", Origin="https://example.com")[0] == 403
    # A name of the attacker's that has come to point here.
    assert ask(http_, "POST", "/", "SELECT 1", Host="example.com:80")[0] == 403
    for host in ("localhost:1", "127.0.0.1", "[::1]:8123"):
        assert ask(http_, "POST", "/", "SELECT 1", Host=host) == (200, b"1\n")


def test_no_answer_waits_for_a_delayed_acknowledgement(http_: http.client.HTTPConnection) -> None:
    ask(http_, "POST", "/", "SELECT 1")
    times = []
    for _ in range(15):
        started = time.perf_counter()
        ask(http_, "POST", "/", "SELECT 1")
        times.append(time.perf_counter() - started)
    assert sorted(times)[len(times) // 2] < 0.03


def test_an_error_leaves_the_connection_usable_even_with_a_body_unread(
    http_: http.client.HTTPConnection,
) -> None:
    data = "1\n" * 3_000_000
    for _ in range(2):
        status, text = ask(http_, "POST", "/", f"INSERT INTO no_such_table FORMAT TSV\n{data}")
        assert (status, b"UNKNOWN_TABLE" in text) == (500, True)
        assert ask(http_, "POST", "/", "SELECT 1") == (200, b"1\n")


@pytest.mark.parametrize("request_", [b"nonsense\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"])
def test_what_is_no_request_gets_an_answer_and_an_end(owner: ServerProcess, request_: bytes) -> None:
    with socket.create_connection(("127.0.0.1", owner.port), timeout=10) as peer:
        peer.sendall(request_)
        answer = b"".join(iter(lambda: peer.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 400 ")


def running(connection: http.client.HTTPConnection) -> int:
    figures = ask(connection, "GET", "/metrics")[1].decode()
    return int(figures.split("loom_clickhouse_queries_running ")[1].split()[0])


def test_an_insert_whose_sender_dies_writes_nothing(
    owner: ServerProcess, http_: http.client.HTTPConnection
) -> None:
    ask(http_, "POST", "/", "CREATE OR REPLACE TABLE broken (v UInt64) ENGINE = MergeTree ORDER BY v")
    with socket.create_connection(("127.0.0.1", owner.port)) as peer:
        first = b"INSERT INTO broken FORMAT TSV\n" + b"1\n" * 100_000
        peer.sendall(
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(first), first)
        )
        wait_until(lambda: running(http_) == 1, "the insert is received", 10)
    wait_until(lambda: running(http_) == 0, "the insert is gone", 10)
    assert ask(http_, "POST", "/", "SELECT count() FROM broken") == (200, b"0\n")


def test_connections_and_settings_of_any_number_leave_nothing_behind(
    owner: ServerProcess, http_: http.client.HTTPConnection
) -> None:
    def open_files() -> int:
        return len(list(Path(f"/proc/{owner.process.pid}/fd").iterdir()))

    for i in range(100):
        ask(http_, "POST", f"/?max_block_size={i + 1}", "SELECT 1")
    before = open_files()
    for i in range(300):
        ask(http_, "POST", f"/?max_block_size={i + 200}", "SELECT 1")
        socket.create_connection(("127.0.0.1", owner.port)).close()
    assert open_files() <= before + 5
