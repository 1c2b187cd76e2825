"""The only loop of the fleet: lease, drain within a budget, report.

A sweep without a shard fans out: it wakes each shard that has something due. A tick of a shard goes round its
namespaces, one batch each, so that a large backlog does not keep a small one waiting. Ticks that come twice,
two beats, a holder that was paused: each finds the lease taken, or nothing left to do.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import redis
import structlog
from celery import current_task

from loom_core import clock, faults, tracing
from loom_core.coordination.leases import EVERY_SHARD, Lease
from loom_core.coordination.shards import shard_of
from loom_core.coordination.tallies import Tallies
from loom_core.coordination.turns import Turns
from loom_core.coordination.work import Deadline, Handled, Work
from loom_core.errors import LoomError, Unavailable
from loom_core.projection.attempts import take_owed
from loom_core.recovery.refunds import Refunds
from loom_core.server.logs import where
from loom_core.storage.statements import sql
from loom_core.tenancy import Scope
from workers.parts import Parts
from workers.process import OutOfTime, stopping
from workers.spec import WorkerSpec

log = structlog.get_logger(__name__)

RUN_COLUMNS = (
    "worker", "shard", "last_run_at", "last_outcome", "handled", "failed", "seconds", "detail", "fence", "ver"
)  # fmt: skip


@dataclass(slots=True)
class Result:
    """How a tick went. `left`: rows are due that it had no time for."""

    handled: int = 0
    failed: int = 0
    left: bool = False
    lease_lost: bool = False
    detail: str = ""

    def outcome(self) -> str:
        """One of idle, done, partial, failed, lease_lost."""
        if self.lease_lost:
            return "lease_lost"
        if self.detail:
            return "failed"
        if self.left:
            return "partial"
        return "done" if self.handled or self.failed else "idle"


def fan_out(spec: WorkerSpec, parts: Parts) -> dict[str, Any]:
    """Wakes each shard that has something due."""

    def body(work: Work, _: Lease, result: Result) -> None:
        for shard in sorted(_by_shard(work.due(), parts)):
            parts.wake(spec.name, shard)
            result.handled += 1

    answer, _ = _run(spec, parts, EVERY_SHARD, body)
    return answer


def tick(spec: WorkerSpec, parts: Parts, shard: int) -> dict[str, Any]:
    """Drains a shard's due rows, as far as the budget goes; wakes itself again if some are left."""

    def body(work: Work, lease: Lease, result: Result) -> None:
        deadline = Deadline(parts.settings.tick_budget_s, stopping)
        scopes = _by_shard(work.due(), parts).get(shard, ())
        _drain(work, scopes, lease, parts, deadline, result)

    # Before the search for rows: a write that comes after it sends a message of its own.
    parts.clear_mark(spec.name, shard)
    answer, again = _run(spec, parts, shard, body)
    if again:
        parts.wake(spec.name, shard)
    return answer


def _by_shard(scopes: Collection[Scope], parts: Parts) -> dict[int, list[Scope]]:
    shards: dict[int, list[Scope]] = {}
    for scope in scopes:
        shards.setdefault(shard_of(scope, parts.settings.shards), []).append(scope)
    return shards


def _run(
    spec: WorkerSpec, parts: Parts, shard: int, body: Callable[[Work, Lease, Result], None]
) -> tuple[dict[str, Any], bool]:
    """Runs `body` under the lease and reports; the answer, and whether to come again at once."""
    started = time.monotonic()
    try:
        lease = parts.leases.acquire(spec.name, shard, floor=_last_fence(spec, parts, shard))
    except (redis.RedisError, Unavailable) as error:
        reason = _reason(error)
        _count(spec, parts, reason, time.monotonic() - started, Result())
        return {"status": reason}, False
    if lease is None:
        _count(spec, parts, "busy", time.monotonic() - started, Result())
        return {"status": "busy"}, False
    result = Result()
    try:
        faults.reach("tick", "leased")
        with tracing.span("tick", _cause(), worker=spec.name, shard=shard):
            Refunds(parts.redis, spec.name, shard).pay(parts.store)
            body(parts.work(spec), lease, result)
    except OutOfTime:
        result.detail = "soft_time_limit"
        log.warning("tick_out_of_time", worker=spec.name, shard=shard)
    except (redis.RedisError, LoomError) as error:
        result.detail = _reason(error)
        log.warning("tick_stopped", worker=spec.name, shard=shard, reason=result.detail)
    except Exception as error:
        result.detail = type(error).__name__
        log.error("tick_failed", worker=spec.name, shard=shard, error_class=result.detail, where=where(error))
    seconds = time.monotonic() - started
    _note_owed(parts, lease)
    _report(spec, parts, lease, result, seconds)
    _count(spec, parts, result.outcome(), seconds, result)
    came = _release(parts, lease)
    answer = {"status": result.outcome(), "handled": result.handled, "failed": result.failed}
    return answer, (came or result.left) and not result.detail


def _drain(
    work: Work, scopes: Collection[Scope], lease: Lease, parts: Parts, deadline: Deadline, result: Result
) -> None:
    """Goes round the namespaces, a batch each, until nothing is due, time is up or the lease is gone."""
    turns = Turns(parts.redis, lease.worker, lease.shard)
    waiting = deque(turns.order(scopes))
    resting: list[tuple[float, Scope]] = []
    while (waiting or resting) and not deadline.passed():
        if not waiting:
            awake_at, scope = min(resting)
            if not deadline.sleep(awake_at - time.monotonic()):
                break
            resting.remove((awake_at, scope))
            waiting.append(scope)
            continue
        if not parts.leases.renew(lease):
            result.lease_lost = True
            return
        scope = waiting.popleft()
        turns.serve(scope)
        handled = _handle(work, scope, deadline, lease, result)
        result.handled += handled.done
        result.failed += handled.failed
        if handled.wait_s:
            resting.append((time.monotonic() + handled.wait_s, scope))
        elif handled.more and (handled.done or handled.failed):
            waiting.append(scope)
    result.left = bool(waiting)
    result.lease_lost = not parts.leases.renew(lease)


def _handle(work: Work, scope: Scope, deadline: Deadline, lease: Lease, result: Result) -> Handled:
    """One batch. What goes wrong in one namespace does not stop the next; what stops them all is raised."""
    try:
        return work.handle(scope, deadline)
    except (Unavailable, redis.RedisError):
        raise
    except Exception as error:
        result.detail = type(error).__name__
        log.error(
            "batch_failed",
            worker=lease.worker,
            shard=lease.shard,
            org=scope.org,
            namespace=scope.namespace,
            error_class=result.detail,
            where=where(error),
        )
        return Handled()


def _cause() -> str | None:
    """The trace of the call whose wake-up this is, as its message names it."""
    headers = (current_task.request.headers if current_task else None) or {}
    parent = headers.get(tracing.TRACEPARENT)
    return parent if isinstance(parent, str) else None


def _last_fence(spec: WorkerSpec, parts: Parts, shard: int) -> int:
    lines = parts.store.rows(sql("fleet.last_run"), worker=spec.name, shard=shard)
    return int(lines[0][2]) if lines else 0


def _report(spec: WorkerSpec, parts: Parts, lease: Lease, result: Result, seconds: float) -> None:
    """Writes down how the tick went, with the token as version: a paused holder cannot overwrite its heir."""
    try:
        faults.reach("tick", "report")
        parts.store.insert(
            "worker_runs",
            RUN_COLUMNS,
            [[spec.name, lease.shard, clock.now(), result.outcome(), result.handled, result.failed, seconds,
              result.detail, lease.token, lease.token]],
        )  # fmt: skip
    except Exception as error:  # the work is done and stands without its report
        log.warning("tick_unreported", worker=spec.name, shard=lease.shard, error_class=type(error).__name__)


def _note_owed(parts: Parts, lease: Lease) -> None:
    """Before the lease goes: whoever has it next gives the tries back."""
    owed = take_owed()
    try:
        Refunds(parts.redis, lease.worker, lease.shard).note(owed)
    except redis.RedisError as error:
        log.warning("tries_not_given_back", batches=len(owed), error_class=type(error).__name__)


def _count(spec: WorkerSpec, parts: Parts, outcome: str, seconds: float, result: Result) -> None:
    try:
        Tallies(parts.redis).add(spec.name, outcome, seconds, result.handled, result.failed)
    except redis.RedisError as error:
        log.debug("tick_uncounted", worker=spec.name, error_class=type(error).__name__)


def _release(parts: Parts, lease: Lease) -> bool:
    try:
        return parts.leases.release(lease)
    except redis.RedisError as error:
        log.debug("lease_not_released", worker=lease.worker, error_class=type(error).__name__)
        return False


def _reason(error: Exception) -> str:
    return error.code if isinstance(error, LoomError) else "redis_away"
