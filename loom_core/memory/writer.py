"""The write path: the row lands first, then its projections run in the same request and never fail it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog

from loom_core import clock, faults
from loom_core.errors import Conflict
from loom_core.memory.current import KeyState, state_of
from loom_core.memory.drafts import Draft, row_of
from loom_core.memory.rows import COLUMNS, MemoryRow, first_wins, stored
from loom_core.projection import failures
from loom_core.projection.inputs import KeyInputs, read_keys
from loom_core.projection.project import Outcome, project
from loom_core.projection.units import Unit
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tenancy import CallContext, Scope

log = structlog.get_logger(__name__)

Wake = Callable[[str, Scope], None]
"""Tells the fleet that a worker has something to do in a scope. Losing a wake-up costs a delay, never a row."""


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What became of one draft."""

    row: MemoryRow
    version: int
    noop: bool
    advisories: Sequence[str] = ()


@dataclass(slots=True)
class WriteReport:
    """What became of a call's drafts, in order; `errors` holds those that were refused."""

    results: dict[int, WriteResult] = field(default_factory=dict)
    errors: dict[int, Conflict] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)


class Writer:
    """Lands rows and events and projects them. One per process; thread-safe."""

    def __init__(self, store: Store, settings: Settings, wake: Wake) -> None:
        self.store = store
        self._settings = settings
        self._wake = wake
        self._locks = [threading.Lock() for _ in range(256)]
        self._known_scopes: set[Scope] = set()

    def write(self, context: CallContext, drafts: Sequence[Draft]) -> WriteReport:
        """Writes drafts in order. A draft whose `if_match_sha256` does not match is refused alone.

        Raises `Unavailable` if the rows cannot land: then none of them did, or all of them did and sending the
        call again is a no-op.
        """
        report = WriteReport()
        keys = list(dict.fromkeys(draft.memory_key for draft in drafts))
        with self._holding(keys):
            inputs = read_keys(self.store, context.scope, keys)
            landing = list(self._place(context, drafts, inputs, report))
            if landing:
                self._land(context.scope, landing)
                units = [
                    Unit(row.memory_id, "row", row.memory_key, row.memory_id, row.arrival) for row in landing
                ]
                known = {unit.memory_key: inputs[unit.memory_key] for unit in units}
                fresh = {row.memory_id for row in landing}
                report.degraded = self.project(context.scope, units, fresh, known)
        if any(not row.entities_given and row.sensitivity == "normal" for row in landing):
            self.wake("entity_extractor", context.scope)
        return report

    def land_event(
        self,
        context: CallContext,
        kind: str,
        memory_key: str,
        key_hash: str,
        event_id: str,
        memory_id: str,
        at: int,
    ) -> list[str]:
        """Lands an event on a key and projects it; returns the projections that failed. The caller holds the key."""
        scope = context.scope
        self.store.insert(
            "memory_events",
            ("org", "namespace", "key_hash", "event_id", "kind", "memory_key", "memory_id", "at", "start", "agent",
             "first_wins"),
            [[scope.org, scope.namespace, key_hash, event_id, kind, memory_key, memory_id, at, at,
              context.agent or "", first_wins(at)]],
        )  # fmt: skip
        return self.project(scope, [Unit(event_id, "event", memory_key, memory_id, at)])

    def project(
        self,
        scope: Scope,
        units: Sequence[Unit],
        fresh: Collection[str] = (),
        known: Mapping[str, KeyInputs] | None = None,
    ) -> list[str]:
        """Projects what landed and logs what failed; returns the names of the projections that did."""
        try:
            outcome = project(self.store, scope, units, fresh, known)
        except Exception as error:  # the row has landed; the graph never fails the write (invariant 2)
            log.warning("projection_not_started", error_class=type(error).__name__)
            outcome = Outcome(failed={"edges": error, "closes": error})
        self._log_failures(scope, units, outcome)
        return outcome.degraded()

    def wake(self, worker: str, scope: Scope) -> None:
        """Wakes a worker; never raises."""
        try:
            self._wake(worker, scope)
        except Exception as error:  # Redis may be away: the beat finds the row all the same (invariant 5)
            log.debug("wake_up_lost", worker=worker, error_class=type(error).__name__)

    @contextmanager
    def holding(self, memory_key: str) -> Iterator[None]:
        """Keeps this process's other writers off a key."""
        with self._holding([memory_key]):
            yield

    @contextmanager
    def _holding(self, keys: Sequence[str]) -> Iterator[None]:
        # Order makes two bulk writes safe from each other; other processes are kept right by the ids (invariant 3).
        slots = sorted({hash(key) % len(self._locks) for key in keys})
        for slot in slots:
            self._locks[slot].acquire()
        try:
            yield
        finally:
            for slot in reversed(slots):
                self._locks[slot].release()

    def _place(
        self, context: CallContext, drafts: Sequence[Draft], inputs: dict[str, KeyInputs], report: WriteReport
    ) -> Iterator[MemoryRow]:
        """Puts each draft on top of its key's history; yields the rows to land."""
        now = clock.now()
        states: dict[str, KeyState] = {}
        for index, draft in enumerate(drafts):
            each = inputs[draft.memory_key]
            state = states.get(draft.memory_key) or state_of(each)
            states.pop(draft.memory_key, None)
            live = state.current if state.live() else None
            if draft.if_match_sha256 and (live is None or live.content_sha256 != draft.if_match_sha256):
                report.errors[index] = Conflict(
                    "content_changed",
                    f"if_match_sha256: the current content of {draft.memory_key!r} has another hash",
                )
                continue
            if live is not None and live.content_sha256 == draft.content_sha256():
                report.results[index] = WriteResult(
                    live, state.number(live.memory_id), True, draft.advisories()
                )
                states[draft.memory_key] = state
                continue
            last = max([row.arrival for row in each.rows] + [event.at for event in each.events], default=0)
            row = row_of(draft, context, each.head(), max(now + index, last + 1))
            report.results[index] = WriteResult(row, len(each.rows) + 1, False, draft.advisories())
            if not draft.dry_run:
                each.rows.append(row)
                yield row

    def _land(self, scope: Scope, rows: Sequence[MemoryRow]) -> None:
        if scope not in self._known_scopes:
            now = clock.now()
            self.store.insert(
                "namespaces",
                ("org", "namespace", "first_seen", "first_wins"),
                [[scope.org, scope.namespace, now, first_wins(now)]],
            )
            self._known_scopes.add(scope)
        with faults.working_on(row.memory_key for row in rows):
            faults.reach("memory", "land")
            self.store.insert(
                "memory",
                ("org", "namespace", *COLUMNS, "first_wins"),
                [[scope.org, scope.namespace, *stored(row)] for row in rows],
            )
            faults.reach("memory", "landed")

    def _log_failures(self, scope: Scope, units: Sequence[Unit], outcome: Outcome) -> None:
        """A failure that cannot even be logged is found all the same: its unit has no receipt (D34)."""
        for projection, error in outcome.failed.items():
            if projection == "receipts":
                continue
            try:
                failures.record_all(self.store, scope, units, projection, error, self._settings)
            except Exception as lost:
                log.warning("failure_not_logged", projection=projection, error_class=type(lost).__name__)
