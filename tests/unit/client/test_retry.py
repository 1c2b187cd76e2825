"""Which failures are worth another try, and how long it waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.client.retry import RetryPolicy
from loom.client.transport import Transport
from loom_core.errors import Internal, Limit, LoomError, Unavailable

POLICY = RetryPolicy(attempts=4, base_s=1.0, cap_s=3.0, patience_s=10.0)


@pytest.mark.parametrize(
    ("status", "again"),
    [
        *((status, True) for status in (None, 408, 429, 500, 502, 503, 504)),
        *((status, False) for status in (400, 401, 403, 404, 405, 409, 413, 422)),
    ],
)
def test_only_what_another_try_can_mend_is_tried_again(status: int | None, again: bool) -> None:
    assert (POLICY.wait_s(1, status, None, lambda: 0.5) is not None) is again


@given(attempt=st.integers(1, 3), draw=st.floats(0, 1, exclude_max=True))
def test_a_wait_is_drawn_under_a_bound_that_doubles_to_the_cap(attempt: int, draw: float) -> None:
    wait = POLICY.wait_s(attempt, 503, None, lambda: draw)
    assert wait is not None
    assert 0 <= wait < min(3.0, 2.0 ** (attempt - 1)) or wait == 0


@pytest.mark.parametrize("attempt", [4, 5, 100])
def test_after_the_last_try_it_gives_up(attempt: int) -> None:
    assert POLICY.wait_s(attempt, 503, None, lambda: 0.5) is None


@given(after=st.floats(0, 10), draw=st.floats(0, 1, exclude_max=True))
def test_a_retry_after_is_waited_out_and_little_more(after: float, draw: float) -> None:
    wait = POLICY.wait_s(1, 429, after, lambda: draw)
    assert wait is not None
    assert after <= wait <= after * 1.1


def test_a_retry_after_beyond_all_patience_is_not_waited_for() -> None:
    assert POLICY.wait_s(1, 429, 10.1, lambda: 0.0) is None


class Network:
    """Answers what it is told, one by one, and remembers what it was sent and what was slept."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers: Iterator[Any] = iter(answers)
        self.sent: list[httpx.Request] = []
        self.slept: list[float] = []

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, httpx.Response)
        return answer

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def call(self, *, write: bool = False, draw: Callable[[], float] = lambda: 0.5) -> dict[str, Any]:
        async def run() -> dict[str, Any]:
            async with httpx.AsyncClient(
                transport=httpx.MockTransport(self.handle), base_url="http://x"
            ) as http:
                transport = Transport(http, {"org": "o"}, POLICY, self.sleep, draw)
                return await transport.call("memory.set", {"memory_key": "k"}, write=write)

        return anyio.run(run)


def envelope(status: int, **detail: Any) -> httpx.Response:
    headers = {"retry-after": str(detail["retry_after_s"])} if "retry_after_s" in detail else {}
    detail = {"code": "c", "message": "m", "category": "internal", "retryable": True} | detail
    return httpx.Response(status, json={"detail": detail}, headers=headers)


OK = httpx.Response(200, json={"done": True})


def test_a_key_is_kept_over_all_tries_of_one_write_and_new_for_the_next() -> None:
    network = Network([httpx.ConnectError("no"), envelope(503), OK, OK])
    assert network.call(write=True) == {"done": True}
    network.call(write=True)
    keys = [request.headers["idempotency-key"] for request in network.sent]
    assert keys[0] == keys[1] == keys[2] != keys[3]
    assert network.slept == [0.5, 1.0]


def test_a_429_is_paced_by_the_server() -> None:
    network = Network([envelope(429, category="limit", retry_after_s=7), OK])
    network.call(draw=lambda: 0.0)
    assert network.slept == [7.0]


def test_a_proxys_retry_after_counts_too() -> None:
    network = Network([httpx.Response(503, text="busy", headers={"retry-after": "2"}), OK])
    network.call(draw=lambda: 0.0)
    assert network.slept == [2.0]


def test_what_was_asked_for_in_vain_is_the_last_servers_word() -> None:
    network = Network([envelope(429, category="limit", code="rate_limited", retry_after_s=60)])
    with pytest.raises(Limit) as caught:
        network.call()
    assert (caught.value.code, caught.value.retry_after_s, network.slept) == ("rate_limited", 60.0, [])


def test_no_answer_in_any_try_is_unavailable() -> None:
    network = Network([httpx.ReadTimeout("slow")] * 4)
    with pytest.raises(Unavailable, match="ReadTimeout after 4 tries"):
        network.call()


@pytest.mark.parametrize("answer", [httpx.Response(200, text="<html>"), httpx.Response(200, json=[1])])
def test_an_answer_that_is_not_looms_is_named_so(answer: httpx.Response) -> None:
    with pytest.raises(Internal, match="is it a Loom server"):
        Network([answer]).call()


@pytest.mark.parametrize("detail", [{"detail": "Not Found"}, ["x"], {"error": 1}])
def test_an_error_without_the_envelope_is_an_error_all_the_same(detail: Any) -> None:
    with pytest.raises(LoomError, match="HTTP 418"):
        Network([httpx.Response(418, json=detail)]).call()
