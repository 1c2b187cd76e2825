"""MCP over streamable HTTP at `/mcp`, behind the same door as every op."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from loom_core.errors import LoomError
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
        self._sessions = StreamableHTTPSessionManager(
            build_server(dispatcher, _who_calls),
            json_response=True,
            stateless=True,
            max_request_body_size=MAX_BODY_BYTES,
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """The time in which it serves."""
        return self._sessions.run()

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
        await self._sessions.handle_request(scope, receive, send)
