"""MCP over standard input and output: what `loom mcp` runs."""

from __future__ import annotations

import anyio
from mcp.server.stdio import stdio_server

from loom_core.server.auth import Authenticator
from loom_core.server.dispatch import Dispatcher
from loom_core.server.logs import configure
from loom_core.server.mcp_tools import build_server
from loom_core.server.metrics import Metrics
from loom_core.server.protocol import Services
from loom_core.server.services import build
from loom_core.settings import Settings


def serve_stdio(settings: Settings) -> None:
    """Serve one client over this process's streams, with the installation's own services."""
    configure(settings)
    serve(settings, build(settings))


def serve(settings: Settings, services: Services) -> None:
    """Serve one client until it closes the input. The caller is LOOM_API_KEY's, where tokens are asked for.

    Raises `AuthError` where LOOM_AUTH_SECRET is set and LOOM_API_KEY holds no token that stands.
    """
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    principal = Authenticator(settings).authenticate(f"Bearer {key}")
    server = build_server(Dispatcher(settings, services, Metrics()), lambda _: principal)

    async def serve() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    try:
        anyio.run(serve)
    finally:
        services.close()
