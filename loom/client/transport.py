"""One call over HTTP: the envelope in and out, retries, and one Idempotency-Key per write."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import anyio
import httpx

from loom.client.retry import RetryPolicy
from loom_core.errors import Internal, LoomError, Unavailable, from_detail

Sleep = Callable[[float], Awaitable[None]]


def encode(value: Any) -> Any:
    """What JSON cannot carry itself: an instant as ISO 8601, a naive one as UTC (D1)."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    raise TypeError(f"{type(value).__name__} is not JSON")


def retry_after_s(response: httpx.Response) -> float | None:
    """The Retry-After header in seconds. A date in it is not read: Loom sends seconds."""
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None


def decode(response: httpx.Response) -> dict[str, Any]:
    """The answer's JSON object. Raises `Internal` where something other than Loom answered."""
    try:
        answer = response.json()
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise Internal(
            "unexpected_answer", f"{response.url} did not answer a JSON object: is it a Loom server?"
        )
    return answer


def as_error(response: httpx.Response) -> LoomError:
    """The error that an answer stands for, also one that came from a proxy and has no envelope."""
    try:
        detail = response.json()["detail"]
    except (ValueError, KeyError, TypeError):
        detail = None
    after = retry_after_s(response)
    if isinstance(detail, Mapping):
        return from_detail(response.status_code, detail, after)
    message = f"HTTP {response.status_code} without an error envelope"
    kind = Unavailable if response.status_code in (429, 502, 503, 504) else Internal
    return kind("unexpected_answer", message, status=response.status_code, retry_after_s=after)


class Transport:
    """Sends calls for one identity. The identity's fields go into every call."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        identity: Mapping[str, str],
        policy: RetryPolicy | None = None,
        sleep: Sleep = anyio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._http = http
        self._identity = dict(identity)
        self._policy = policy or RetryPolicy()
        self._sleep = sleep
        self._draw = draw

    async def call(self, op: str, arguments: Mapping[str, Any], *, write: bool = False) -> dict[str, Any]:
        """The op's answer.

        Raises the `LoomError` that the server named, `Unavailable` where no answer came in any try. A write
        keeps one Idempotency-Key over all its tries, so that it is done once even where an answer was lost.
        """
        body = json.dumps({**self._identity, **arguments}, default=encode, allow_nan=False).encode()
        headers = {"content-type": "application/json"}
        if write:
            headers["idempotency-key"] = uuid.uuid4().hex
        attempt = 0
        while True:
            attempt += 1
            try:
                response = await self._http.post(f"/v1/{op}", content=body, headers=headers)
            except httpx.TransportError as error:
                failure: LoomError = Unavailable(
                    "no_answer", f"{op}: {type(error).__name__} after {attempt} tries"
                )
                status = None
            else:
                if response.is_success:
                    return decode(response)
                failure, status = as_error(response), response.status_code
            asked = failure.retry_after_s if status is not None else None
            wait = self._policy.wait_s(attempt, status, asked, self._draw)
            if wait is None:
                raise failure
            await self._sleep(wait)


def given(**arguments: Any) -> dict[str, Any]:
    """The arguments that are not None: an absent one takes the server's default."""
    return {name: value for name, value in arguments.items() if value is not None}
