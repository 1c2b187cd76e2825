"""MCP over streamable HTTP at `/mcp`, behind the same door as every op."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from loom_core.errors import LoomError, Unavailable
from loom_core.server.auth import Principal
from loom_core.server.body import MAX_BODY_BYTES
from loom_core.server.dispatch import Dispatcher
from loom_core.server.http import Door, error_response
from loom_core.server.mcp_tools import build_server

PRINCIPAL = "loom.principal"


def _who_calls(context: ServerRequestContext[Any, Any]) -> Principal:
    assert context.request is not None, "the HTTP transport hands over its request"
    principal: Principal = context.request.scope[PRINCIPAL]
    return principal


class McpEndpoint:
    """An ASGI endpoint. Each request stands alone (no session), so any server process can answer it."""

    def __init__(self, door: Door, dispatcher: Dispatcher) -> None:
        self._door = door
        self._server = build_server(dispatcher, _who_calls)
        self._sessions: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The time in which it serves. The SDK's manager runs once, so each start of the app has its own."""
        sessions = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, max_request_body_size=MAX_BODY_BYTES
        )
        async with sessions.run():
            self._sessions = sessions
            yield
        self._sessions = None

    def route(self) -> Route:
        """Its route. Without sessions there is no stream to open (GET) and none to end (DELETE)."""
        return Route("/mcp", self, methods=["POST"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One HTTP request of the protocol."""
        try:
            scope[PRINCIPAL] = self._door.admit(Request(scope))
        except LoomError as error:
            await error_response(error)(scope, receive, send)
            return
        if self._sessions is None:
            await error_response(Unavailable("stopping", "the server is stopping"))(scope, receive, send)
            return
        await self._sessions.handle_request(scope, receive, send)
