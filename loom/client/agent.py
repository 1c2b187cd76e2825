"""`Agent`: one identity's view of a Loom server."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

import httpx

from loom.client.facts import Facts
from loom.client.memory import Memory
from loom.client.namespace import Namespace
from loom.client.ops import Ops
from loom.client.retry import RetryPolicy
from loom.client.transport import Transport

DEFAULT_URL = "http://127.0.0.1:7777"
TIMEOUT = httpx.Timeout(60.0, connect=5.0)
"""Seconds: longer than any call the server would still answer."""


class Agent:
    """The async client. `async with Agent(org, namespace, agent) as agent:` closes its connections.

    `base_url` and `api_key` default to LOOM_BASE_URL and LOOM_API_KEY. `user_id` and `session_id` complete
    the identity tuple. `policy` says how often and how long to retry; `transport` replaces the network.
    """

    def __init__(
        self,
        org: str,
        namespace: str,
        agent: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        policy: RetryPolicy | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        url = base_url or os.environ.get("LOOM_BASE_URL") or DEFAULT_URL
        key = api_key or os.environ.get("LOOM_API_KEY")
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.AsyncClient(base_url=url, headers=headers, timeout=TIMEOUT, transport=transport)
        identity = {
            "org": org,
            "namespace": namespace,
            "agent": agent,
            "user_id": user_id,
            "session_id": session_id,
        }
        calls = Transport(
            self._http, {name: text for name, text in identity.items() if text is not None}, policy
        )
        self.memory = Memory(calls)
        self.facts = Facts(calls)
        self.namespace = Namespace(calls)
        self.ops = Ops(calls)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        """The agent itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self.aclose()
