"""Requests off a byte stream: what is read, what is refused."""

import io
import socket
from io import BufferedReader
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_core.embedded.http_answer import ChunkedAnswer, send
from loom_core.embedded.http_request import BadRequest, drain, read_request


class Peer:
    """Takes what is sent; each send is one write to the network."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []

    def sendall(self, data: bytes) -> None:
        self.writes.append(bytes(data))


def stream(data: bytes) -> BufferedReader:
    return io.BufferedReader(io.BytesIO(data))  # type: ignore[return-value]


def request(data: bytes, peer: Peer | None = None):
    return read_request(stream(data), peer or Mock(spec=socket.socket))


def body_of(data: bytes) -> bytes:
    found = request(data)
    assert found is not None
    return b"".join(iter(lambda: found.body.read(7), b""))


def test_a_request_is_read() -> None:
    found = request(
        b"POST /?query=SELECT+1%3B&param_x=%C3%A9&empty= HTTP/1.1\r\nHost: localhost:1\r\nX-Y:  a b \r\n"
        b"Content-Length: 3\r\n\r\nabcGET"
    )
    assert found is not None
    assert (found.method, found.path, found.keep_alive) == ("POST", "/", True)
    assert found.args == [("query", "SELECT 1;"), ("param_x", "é"), ("empty", "")]
    assert found.headers == {"host": "localhost:1", "x-y": "a b", "content-length": "3"}
    assert found.body.read(100) == b"abc"
    assert found.body.read(100) == b""


def test_the_end_of_the_stream_is_no_request() -> None:
    assert request(b"") is None


@pytest.mark.parametrize(
    ("head", "kept"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
    ],
)
def test_a_connection_is_kept_as_its_peer_wants(head: bytes, kept: bool) -> None:
    found = request(head)
    assert found is not None
    assert found.keep_alive is kept


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=8))
def test_chunks_are_joined(chunks: list[bytes]) -> None:
    coded = b"".join(b"%x;ext=1\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    data = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + coded + b"0\r\nTrailer: x\r\n\r\nrest"
    assert body_of(data) == b"".join(chunks)


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nbad name : x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1_0\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"".join(b"h%d: x\r\n" % i for i in range(200)) + b"\r\n",
        b"GET /" + b"x" * (1 << 20) + b" HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(data: bytes) -> None:
    with pytest.raises(BadRequest):
        request(data)


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: 5\r\n\r\nabc",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nabc",
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcXX0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ],
)
def test_a_body_cut_short_is_never_taken_for_a_whole_one(body: bytes) -> None:
    with pytest.raises(BadRequest):
        body_of(b"POST / HTTP/1.1\r\n" + body)


def test_a_sender_that_waits_is_told_to_go_on_once() -> None:
    peer = Peer()
    found = request(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab", peer)
    assert found is not None
    assert peer.writes == []
    assert drain(found.body)
    assert peer.writes == [b"HTTP/1.1 100 Continue\r\n\r\n"]


def test_an_answer_leaves_in_one_write() -> None:
    peer = Peer()
    send(peer, 200, [("A", "b")], b"body")  # type: ignore[arg-type]
    assert peer.writes == [b"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 4\r\n\r\nbody"]


@given(st.lists(st.binary(max_size=30), max_size=6))
def test_a_chunked_answer_is_whole_only_with_its_end(pieces: list[bytes]) -> None:
    peer = Peer()
    answer = ChunkedAnswer(peer, [])  # type: ignore[arg-type]
    for piece in pieces:
        answer.write(piece)
    before = b"".join(peer.writes)
    assert not before.endswith(b"0\r\n\r\n") or not any(pieces)
    answer.end()
    head, _, body = b"".join(peer.writes).partition(b"\r\n\r\n")
    assert head == b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked"
    assert body_of(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + body) == b"".join(pieces)
