"""The ASGI app: every part of the surface put together, once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from loom_core.server.auth import Authenticator
from loom_core.server.dispatch import Dispatcher
from loom_core.server.http import Door, Endpoints, routing_error
from loom_core.server.mcp_http import McpEndpoint
from loom_core.server.metrics import Metrics
from loom_core.server.protocol import Services
from loom_core.server.rate_limit import RateLimiter
from loom_core.settings import Settings


def build_app(settings: Settings, services: Services) -> Starlette:
    """The app over `services`, which it closes when it stops.

    Raises `Invalid` for a secret that is too short, `Internal` for services that lack a handler.
    """
    authenticator = Authenticator(settings)
    metrics = Metrics(services.fleet_metrics)
    dispatcher = Dispatcher(settings, services, metrics)
    door = Door(authenticator, RateLimiter(settings.rate_limit_per_minute))
    endpoints = Endpoints(door, dispatcher, services, metrics, tokens=not authenticator.single_user)
    mcp = McpEndpoint(door, dispatcher)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with mcp.running():
            yield
        services.close()

    return Starlette(
        routes=[*endpoints.routes(), mcp.route()],
        exception_handlers={HTTPException: routing_error},
        lifespan=lifespan,
    )
