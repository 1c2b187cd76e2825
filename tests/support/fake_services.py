"""Services for tests of the surface: each op answers its documented example, and records what it was asked."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from loom_core.server.examples import EXAMPLES
from loom_core.server.protocol import StoredAnswer
from loom_core.server.registry import OPS
from loom_core.tenancy import CallContext, Scope

Handler = Callable[[CallContext, Any], Any]


class Group:
    """The methods of one group of ops."""


class FakeAudit:
    """Keeps audit lines in a list."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def note(self, context: CallContext, op: str, outcome: str) -> None:
        self.lines.append((op, outcome))


class FakeIdempotency:
    """Stored answers in a dict."""

    def __init__(self) -> None:
        self.rows: dict[tuple[Scope, str, str], StoredAnswer] = {}
        self.memory_keys: dict[str, tuple[str, ...]] = {}

    def get(self, scope: Scope, op: str, key: str) -> StoredAnswer | None:
        return self.rows.get((scope, op, key))

    def put(self, scope: Scope, op: str, key: str, answer: StoredAnswer, memory_keys: Sequence[str]) -> None:
        self.rows[scope, op, key] = answer
        self.memory_keys[key] = tuple(memory_keys)


class FakeServices:
    """Every op's handler, replaceable by name: `services.answer("facts.list", handler)`."""

    def __init__(self) -> None:
        self.memory, self.facts, self.namespace, self.ops = Group(), Group(), Group(), Group()
        self.idempotency = FakeIdempotency()
        self.audit = FakeAudit()
        self.fleet_metrics = None
        self.calls: list[tuple[str, CallContext, Any]] = []
        self._handlers: dict[str, Handler] = {}
        self.checks: dict[str, bool] = {"clickhouse": True, "redis": True, "migrations": True}
        self.closed = False
        for op in OPS:
            setattr(getattr(self, op.group), op.verb, functools.partial(self._handle, op.name))

    def answer(self, name: str, handler: Handler) -> None:
        """From now on the op is handled so."""
        self._handlers[name] = handler

    def _handle(self, name: str, context: CallContext, request: Any) -> Any:
        self.calls.append((name, context, request))
        handler = self._handlers.get(name)
        return handler(context, request) if handler else EXAMPLES[name][1]

    @property
    def asked(self) -> Any:
        """The last request that reached a handler."""
        return self.calls[-1][2]

    @property
    def context(self) -> CallContext:
        """The last call's context."""
        return self.calls[-1][1]

    def ready(self) -> Mapping[str, bool]:
        return self.checks

    def close(self) -> None:
        self.closed = True
