"""One call, from decoded arguments to an answer: the same for HTTP and MCP.

Identity is filled and checked, the role checked, the request validated, the handler run on a bounded pool of
threads (the store's client blocks), and the answer completed with what validation had to tell.
"""

from __future__ import annotations

import functools
import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import anyio
import anyio.to_thread
import structlog

from loom_core import tracing
from loom_core.errors import Conflict, Internal, LoomError, Unavailable
from loom_core.server.auth import Principal
from loom_core.server.failures import as_loom_error
from loom_core.server.identity import fill
from loom_core.server.logs import where
from loom_core.server.metrics import Metrics
from loom_core.server.protocol import Services, StoredAnswer
from loom_core.server.registry import OPS, Op
from loom_core.settings import Settings
from loom_core.tenancy import CallContext
from loom_core.wire import Notes, parse_request

HANDLER_THREADS = 32
MAX_WAITING = 512
"""Calls that may wait for a thread. More would only wait past their clients' patience."""

KEY_FIELDS = ("memory_key", "from_key", "to_key")

Handler = Callable[[CallContext, Any], Any]

log = structlog.get_logger("loom.calls")
audit = structlog.get_logger("loom.audit")


@dataclass(frozen=True, slots=True)
class Call:
    """One call as a transport took it in."""

    op: Op
    principal: Principal
    arguments: dict[str, Any]
    transport: Literal["http", "mcp"]
    request_id: str
    idempotency_key: str | None = None


class Dispatcher:
    """Runs calls against the services. Raises `Internal` at once for an op without a handler."""

    def __init__(self, settings: Settings, services: Services, metrics: Metrics) -> None:
        self._settings = settings
        self._services = services
        self._metrics = metrics
        self._threads = anyio.CapacityLimiter(HANDLER_THREADS)
        self._handlers: dict[str, Handler] = {}
        for op in OPS:
            handler = getattr(getattr(services, op.group, None), op.verb, None)
            if not callable(handler):
                raise Internal("no_handler", f"{op.handler_path} is missing")
            self._handlers[op.name] = handler

    async def run(self, call: Call) -> dict[str, Any]:
        """The answer as JSON. Raises a `LoomError`, whatever went wrong; logs and counts every call."""
        started = time.perf_counter()
        code = "cancelled"
        self._metrics.running.inc()
        try:
            with tracing.span(f"op {call.op.name}", transport=call.transport):
                answer = await self._run(call)
            code = "ok"
            return answer
        except Exception as error:
            failure = as_loom_error(error, call.request_id)
            code = failure.code
            if isinstance(failure, Internal):
                log.error("failed", op=call.op.name, request_id=call.request_id, **cause(error))
            raise failure from error
        finally:
            took = time.perf_counter() - started
            self._metrics.running.dec()
            self._metrics.calls.labels(call.op.name, call.transport, code).inc()
            self._metrics.seconds.labels(call.op.name).observe(took)
            line = audit if call.op.audited else log
            line.info(
                "call",
                op=call.op.name,
                code=code,
                ms=round(took * 1000, 1),
                transport=call.transport,
                caller=call.principal.fingerprint,
                request_id=call.request_id,
            )

    async def _run(self, call: Call) -> dict[str, Any]:
        call.principal.require(call.op.role)
        arguments, context = fill(call.op, call.principal, call.arguments, call.request_id, self._settings)
        if self._threads.statistics().tasks_waiting >= MAX_WAITING:
            raise Unavailable("overloaded", "too many calls are waiting", retry_after_s=1)
        answer = self._audited if call.op.audited else self._answer
        work = functools.partial(answer, call, arguments, context)
        return await anyio.to_thread.run_sync(work, limiter=self._threads)

    def _audited(self, call: Call, arguments: dict[str, Any], context: CallContext) -> dict[str, Any]:
        """The answer, and a row that says who asked for it and how it ended."""
        outcome = "failed"
        try:
            answer = self._answer(call, arguments, context)
            outcome = "ok"
            return answer
        except LoomError as error:
            outcome = error.code
            raise
        finally:
            try:
                self._services.audit.note(context, call.op.name, outcome)
            except Exception as error:
                # What was done stands; the log line that every audited call leaves says it too.
                log.error("audit_not_kept", op=call.op.name, request_id=call.request_id, **cause(error))

    def _answer(self, call: Call, arguments: dict[str, Any], context: CallContext) -> dict[str, Any]:
        """In a thread: validate (a large value takes a while), look for a stored answer, handle, store."""
        request, notes = parse_request(call.op.request, arguments)
        handler = self._handlers[call.op.name]
        key = call.idempotency_key if call.op.keeps_answer else None
        if key is None:
            return complete(call.op, handler(context, request), request, notes)
        store, scope = self._services.idempotency, context.scope
        digest = hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()
        stored = store.get(scope, call.op.name, key)
        if stored is not None:
            if stored.request_sha256 != digest:
                raise Conflict("idempotency_key_reused", "this Idempotency-Key came with another request")
            return dict(stored.body)
        body = complete(call.op, handler(context, request), request, notes)
        try:
            store.put(scope, call.op.name, key, StoredAnswer(digest, body), keys_in(arguments, body))
        except Exception as error:
            # The write stands: without its answer kept, a retry runs it again, and writes are repeatable.
            log.warning("answer_not_kept", op=call.op.name, request_id=call.request_id, **cause(error))
        return body


def cause(error: BaseException) -> dict[str, Any]:
    """What the log says of an error: its type, its store code if it has one, and where it came through."""
    return {
        "error": type(error).__name__,
        "store_code": getattr(error, "clickhouse_code", None),
        "frames": where(error),
    }


def keys_in(arguments: dict[str, Any], body: dict[str, Any]) -> tuple[str, ...]:
    """The memory keys that a write and its answer speak of."""
    entries = [arguments, body, *arguments.get("entries", ()), *body.get("written", ())]
    named = [entry.get(field) for entry in entries if isinstance(entry, dict) for field in KEY_FIELDS]
    named += [key for entry in entries if isinstance(entry, dict) for key in entry.get("supersedes") or ()]
    return tuple(sorted({key for key in named if isinstance(key, str)}))


def complete(op: Op, answer: Any, request: Any, notes: Notes) -> dict[str, Any]:
    """The handler's answer as JSON, with the advisories, ignored arguments and refusals of validation.

    Raises `Internal` (through `as_loom_error`) where the handler's answer is not the op's response.
    """
    model = answer if isinstance(answer, op.response) else op.response.model_validate(answer)
    body: dict[str, Any] = model.model_dump(mode="json")
    if notes.advisories:
        body["advisories"] = [*notes.advisories, *body.get("advisories", [])]
    if notes.ignored:
        body["ignored_args"] = notes.ignored
    if refused := getattr(request, "refused", None):
        by_index = {
            item["index"]: item for item in [*(item.model_dump() for item in refused), *body["refused"]]
        }
        body["refused"] = [by_index[index] for index in sorted(by_index)]
    return body
