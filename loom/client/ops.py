"""`agent.ops`: the state of the installation."""

from __future__ import annotations

from typing import Any

from loom.client.transport import Transport


class Ops:
    """The `ops.*` ops. Every method answers the op's JSON object as a dict, and raises `LoomError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def health(self) -> dict[str, Any]:
        """Whether the stores answer and migrations are done."""
        return await self._transport.call("ops.health", {})

    async def capabilities(self) -> dict[str, Any]:
        """What the server can do as it is configured."""
        return await self._transport.call("ops.capabilities", {})

    async def fleet(self) -> dict[str, Any]:
        """Each worker's gate, last run, backlog and failures."""
        return await self._transport.call("ops.fleet", {})
