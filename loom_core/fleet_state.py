"""What each worker has before it, read from the tables: for `loom status`, `loom drain`, `ops.fleet`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from loom_core import clock
from loom_core.community_pass import coverage
from loom_core.coordination.due import with_landings_since_mark
from loom_core.coordination.marks import read_mark
from loom_core.projection.due import MARK as PROJECTION_MARK
from loom_core.projection.failures import EXTRACTION
from loom_core.recovery.closes import CLOSES
from loom_core.recovery.retry import RETRIED, SOURCES
from loom_core.server.models import WorkerStatus
from loom_core.settings import Settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tagging.due import MARK as EXTRACTION_MARK
from loom_core.tagging.due import SOURCE
from loom_core.tenancy import Scope

GATES = {
    "entity_extractor": "entity_extract_enabled",
    "projection_retry": "projection_retry_enabled",
    "supersession_replay": "supersession_replay_enabled",
    "entity_communities": "entity_communities_enabled",
}
"""The setting that is each worker's gate."""
WORKERS = tuple(GATES)
PROJECTIONS = {
    "entity_extractor": (EXTRACTION,),
    "projection_retry": RETRIED,
    "supersession_replay": (CLOSES,),
    "entity_communities": (),
}
"""Whose failures are whose."""
_OWNERS = {name: worker for worker, names in PROJECTIONS.items() for name in names}


def gate_is_on(settings: Settings, worker: str) -> bool:
    """Whether a worker's gate is on. Raises `KeyError` for a name that is no worker's."""
    return bool(getattr(settings, GATES[worker]))


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many items wait, and since when (µs) the oldest does; 0 where none does."""

    count: int = 0
    oldest: int = 0

    def plus(self, other: Waiting) -> Waiting:
        """Both together."""
        return Waiting(self.count + other.count, min(filter(None, (self.oldest, other.oldest)), default=0))


def snapshot(store: Store, settings: Settings) -> list[WorkerStatus]:
    """The state of every worker. What is dead does not wait any more; it is in `failures`.

    With provider `fake` no row waits for extraction: it stays untagged until a real one is set (D38).
    """
    last_runs = {str(worker): last for worker, last in store.rows(sql("fleet.last_runs"))}
    now = clock.now()
    found = []
    for worker in WORKERS:
        # In the order in which a row goes through the fleet, what waits before what failed: a row that moves on
        # between two of these reads is then counted twice, never missed.
        waiting = _waiting(store, settings, worker)
        failures = _failures(store, worker)
        waiting = waiting.plus(failures.open)
        last = last_runs.get(worker)
        found.append(
            WorkerStatus(
                worker=worker,
                enabled=gate_is_on(settings, worker),
                last_run=clock.instant(last) if last else None,
                backlog=waiting.count,
                oldest_age_s=max(0, now - waiting.oldest) / clock.SECOND if waiting.count else None,
                failures=failures.by_state,
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class _Failures:
    by_state: dict[str, int]
    open: Waiting


def _failures(store: Store, worker: str) -> _Failures:
    states: dict[str, int] = {}
    open_ = Waiting()
    for projection, state, count, oldest in store.rows(sql("fleet.failures_by_state")):
        if _OWNERS.get(projection, "projection_retry") != worker:
            continue
        states[state] = states.get(state, 0) + count
        if state == "open":
            open_ = open_.plus(Waiting(count, oldest))
    return _Failures(states, open_)


def _waiting(store: Store, settings: Settings, worker: str) -> Waiting:
    """What waits without having failed."""
    if worker == "entity_extractor" and settings.llm_provider != "fake":
        scopes = with_landings_since_mark(store, [SOURCE], EXTRACTION_MARK)
        return _counted(store, scopes, "tagging.untagged", EXTRACTION_MARK)
    if worker == "projection_retry":
        scopes = with_landings_since_mark(store, SOURCES, PROJECTION_MARK)
        return _counted(store, scopes, "due.orphans", PROJECTION_MARK)
    if worker == "entity_communities" and settings.entity_communities_enabled:
        return Waiting(len(coverage.due_scopes(store, settings)), clock.now())
    return Waiting()


def _counted(store: Store, scopes: Iterable[Scope], statement: str, mark_of: str) -> Waiting:
    """Counts what a sweep's own search finds, however young, over these namespaces."""
    total = Waiting()
    select = sql("fleet.counted").format(search=sql(statement))
    for scope in sorted(scopes):
        names = {"org": scope.org, "namespace": scope.namespace}
        mark = read_mark(store, scope, mark_of)
        limits = {"since": mark.since, "until": mark.now + clock.DAY, "limit": 2**32 - 1}
        total = total.plus(Waiting(*store.rows(select, **limits, **names)[0]))
    return total
