"""HTTP: `POST /v1/<op>`, the error envelope, and what operators ask for."""

from __future__ import annotations

import ipaddress
import json
import math
import re
import time
import uuid
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from loom_core.errors import Forbidden, Invalid, LoomError, NotFound
from loom_core.server import docs_page, openapi
from loom_core.server.auth import Authenticator, Principal
from loom_core.server.body import decode_object, read_body
from loom_core.server.dispatch import Call, Dispatcher
from loom_core.server.metrics import Metrics
from loom_core.server.protocol import Services
from loom_core.server.rate_limit import RateLimiter
from loom_core.server.registry import find

READY_TIMEOUT_S = 5.0
LARGE_BODY_BYTES = 128 * 1024
"""From here on decoding takes long enough to be felt by the other calls on the event loop."""
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,255}")


class Json(Response):
    """JSON as UTF-8, refusing what is not JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes."""
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def error_response(error: LoomError) -> Json:
    """The envelope, with the headers that its status asks for."""
    headers = {}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_s)))
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Json({"detail": error.detail()}, status_code=error.status, headers=headers)


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def from_loopback(origin: str) -> bool:
    """Whether an `Origin` header names a page served by this machine."""
    try:
        return is_loopback(urlsplit(origin).hostname or "")
    except ValueError:
        return False


def request_id(request: Request) -> str:
    """The caller's X-Request-Id where it is a plain one, else a new one."""
    given = request.headers.get("x-request-id", "")
    return given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex


async def decoded(body: bytes) -> dict[str, Any]:
    """The body as a JSON object; a large one is decoded in a thread. Raises `Invalid`."""
    if len(body) < LARGE_BODY_BYTES:
        return decode_object(body)
    return await anyio.to_thread.run_sync(decode_object, body)


class Door:
    """Lets a request in: with a valid token, within its rate, and from no foreign web page."""

    def __init__(self, authenticator: Authenticator, limiter: RateLimiter) -> None:
        self._authenticator = authenticator
        self._limiter = limiter

    def admit(self, request: Request) -> Principal:
        """The caller. Raises `AuthError`, `Forbidden` or `Limit`.

        A browser names the page that calls in `Origin`: without tokens, any page the user visits could
        otherwise read and write here.
        """
        origin = request.headers.get("origin")
        if self._authenticator.single_user and origin is not None and not from_loopback(origin):
            raise Forbidden("foreign_origin", "a single-user server serves no page of another host")
        principal = self._authenticator.authenticate(request.headers.get("authorization"))
        self._limiter.take(principal.fingerprint)
        return principal


class Endpoints:
    """The HTTP endpoints over one dispatcher."""

    def __init__(
        self, door: Door, dispatcher: Dispatcher, services: Services, metrics: Metrics, *, tokens: bool
    ) -> None:
        self._door = door
        self._dispatcher = dispatcher
        self._services = services
        self._metrics = metrics
        self._document = openapi.as_json(tokens=tokens)
        self._page = docs_page.render()
        self._started = time.time()

    def routes(self) -> list[Route]:
        """Their routes."""
        return [
            Route("/v1/{op:path}", self.call, methods=["POST"]),
            Route("/healthz", self.alive, methods=["GET"]),
            Route("/readyz", self.ready, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
            Route("/openapi.json", self.openapi, methods=["GET"]),
            Route("/docs", self.docs, methods=["GET"]),
        ]

    async def call(self, request: Request) -> Response:
        """`POST /v1/<op>`."""
        trace = request_id(request)
        try:
            op = find(request.path_params["op"])
            principal = self._door.admit(request)
            principal.require(op.role)
            key = request.headers.get("idempotency-key")
            if key is not None and not IDEMPOTENCY_KEY.fullmatch(key):
                raise Invalid(
                    "bad_idempotency_key", "an Idempotency-Key is 1 to 255 printable ASCII characters"
                )
            arguments = await decoded(await read_body(request.stream()))
            answer = await self._dispatcher.run(Call(op, principal, arguments, "http", trace, key))
            response: Response = Json(answer)
        except ClientDisconnect:
            response = Response(status_code=400)  # for the record: nobody is there to read it
        except LoomError as error:
            response = error_response(error)
        response.headers["X-Request-Id"] = trace
        return response

    async def alive(self, _: Request) -> Response:
        """The process answers."""
        return Json({"status": "alive", "up_s": round(time.time() - self._started, 1)})

    async def ready(self, _: Request) -> Response:
        """Stores answer and migrations are done: 200; else 503, with what is missing."""
        checks: dict[str, bool] = {"answered_in_time": False}
        with anyio.move_on_after(READY_TIMEOUT_S):
            checks = dict(await anyio.to_thread.run_sync(self._services.ready, abandon_on_cancel=True))
        ready = all(checks.values())
        return Json({"ready": ready, "checks": checks}, status_code=200 if ready else 503)

    async def metrics(self, _: Request) -> Response:
        """Prometheus's text format."""
        text = await anyio.to_thread.run_sync(self._metrics.render, abandon_on_cancel=True)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def openapi(self, _: Request) -> Response:
        """The OpenAPI document."""
        return Response(self._document, media_type="application/json")

    async def docs(self, _: Request) -> Response:
        """The page for people."""
        return HTMLResponse(self._page)


def routing_error(_: Request, error: Exception) -> Response:
    """A wrong path or method, in the envelope."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return error_response(NotFound("unknown_path", "there is nothing here; ops are POST /v1/<op>"))
    failure = Invalid("method_not_allowed", str(error.detail), status=error.status_code)
    response = error_response(failure)
    response.headers.update(error.headers or {})
    return response
