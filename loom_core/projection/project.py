"""Runs the projections of some units, each on its own: one that fails leaves the others standing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field

import structlog

from loom_core import faults, tracing
from loom_core.graph.ontology import Ontology
from loom_core.memory.rows import digest, first_wins, key_hash
from loom_core.projection.degree import RecountNeeded, batch_unit_id, project_degree
from loom_core.projection.edges import project_edges, project_facts, project_mentions
from loom_core.projection.inputs import KeyInputs, NamespaceContext, read_context, read_keys, unchanged
from loom_core.projection.plan import Plan, make_plan
from loom_core.projection.receipts import ALL, write_receipts
from loom_core.projection.recount import recount
from loom_core.projection.slots import derive_slots, write_statements
from loom_core.projection.units import PROJECTIONS, Unit
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

EVENT_COLUMNS = (
    "org", "namespace", "key_hash", "event_id", "kind", "memory_key", "memory_id", "at", "start", "agent", "first_wins"
)  # fmt: skip

MOST_ROUNDS = 8
"""A key that is written to without pause is left to the projector of the last write."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Outcome:
    """How a run ended: by projection, what it raised; the current value of each key; warnings of the ontology."""

    failed: dict[str, Exception] = field(default_factory=dict)
    superseded: set[str] = field(default_factory=set)
    """Ids of row versions that are not their key's live value any more."""

    def degraded(self) -> list[str]:
        """Names of the projections that failed, in the order they run."""
        return [name for name in (*PROJECTIONS, "receipts") if name in self.failed]


def project(
    store: Store,
    scope: Scope,
    units: Sequence[Unit],
    fresh: Iterable[str] = (),
    known: Mapping[str, KeyInputs] | None = None,
) -> Outcome:
    """Brings the graph up to date with `units` and writes their receipts.

    Asks after it wrote whether more has landed, and goes on until nothing has, so that what stands at the end is
    not older than the inputs. Running it twice, in any order, by two processes at once, leaves the same graph
    (invariants 3 and 4). A projection that raises is in `Outcome.failed`; the units then have no receipt for it.
    Raises only if the inputs cannot be read. `fresh`: ids of rows that landed in this very call, of which nothing
    is stored. `known`: the inputs of all the units' keys as far as the caller knows them, which spares a read.
    """
    with tracing.span("project", units=len(units)), faults.working_on({unit.memory_key for unit in units}):
        context = read_context(store, scope)
        inputs = known or read_keys(store, scope, sorted({unit.memory_key for unit in units}))
        if superseded := _supersede_other_keys(store, scope, units, inputs):
            units = [*units, *superseded]
            inputs = read_keys(store, scope, sorted({unit.memory_key for unit in units}))
        plan, inputs, outcome, batches = _run_until_unchanged(
            store, scope, inputs, context, units, frozenset(fresh)
        )
        outcome.superseded = {p.row.memory_id for p in plan.rows if not p.history.live}
        done = [name for name in PROJECTIONS if name not in outcome.failed] if outcome.failed else [ALL]
        receipts = [(u.unit_id, name, inputs[u.memory_key].seen()) for u in units for name in done]
        receipts += [(batch_unit_id(batch_id), "degree", 0) for batch_id in batches]
        _attempt(outcome, "receipts", lambda: write_receipts(store, scope, receipts))
    return outcome


def _supersede_other_keys(
    store: Store, scope: Scope, units: Sequence[Unit], inputs: Mapping[str, KeyInputs]
) -> list[Unit]:
    """Lands the events by which rows retire rows of other keys (`supersedes`, D11); returns them as units.

    A step of the projection, not of the write: a row whose writer died before it is found without a receipt.
    """
    wanted = {unit.memory_id for unit in units if unit.kind == "row"}
    lines, follow_ups = [], []
    for row in (row for each in inputs.values() for row in each.rows):
        for key in row.supersedes if row.memory_id in wanted else ():
            start = row.arrival if row.valid_at is None else row.valid_at
            hashed = key_hash(scope.org, scope.namespace, key)
            event_id = digest("supersede", row.memory_id, key)
            lines.append(
                [scope.org, scope.namespace, hashed, event_id, "supersede", key, row.memory_id, row.arrival, start,
                 row.agent, first_wins(row.arrival)]
            )  # fmt: skip
            follow_ups.append(Unit(event_id, "event", key, row.memory_id, row.arrival))
    store.insert("memory_events", EVENT_COLUMNS, lines)
    return follow_ups


def project_keys(store: Store, scope: Scope, keys: Sequence[str]) -> Outcome:
    """Projects every version of these keys again, comparing with all that is stored of them."""
    with faults.working_on(keys):
        context = read_context(store, scope)
        inputs = read_keys(store, scope, keys)
        plan, _, outcome, batches = _run_until_unchanged(store, scope, inputs, context, None, frozenset())
        receipts = [(batch_unit_id(batch_id), "degree", 0) for batch_id in batches]
        if not outcome.failed:
            receipts += [(planned.row.memory_id, ALL, 0) for planned in plan.rows]
        _attempt(outcome, "receipts", lambda: write_receipts(store, scope, receipts))
    return outcome


def _run_until_unchanged(
    store: Store,
    scope: Scope,
    inputs: Mapping[str, KeyInputs],
    context: NamespaceContext,
    units: Sequence[Unit] | None,
    fresh: frozenset[str],
) -> tuple[Plan, Mapping[str, KeyInputs], Outcome, list[str]]:
    """Runs the projections until nothing has landed meanwhile; the last plan and its inputs, how it went, batches."""
    batches: list[str] = []
    for _ in range(MOST_ROUNDS):
        plan = make_plan(inputs, context, units, fresh)
        outcome, added = run(store, scope, plan)
        batches += added
        if outcome.failed or unchanged(store, scope, inputs, context.revision):
            break
        context, inputs, fresh = (
            read_context(store, scope),
            read_keys(store, scope, list(inputs)),
            frozenset(),
        )
    return plan, inputs, outcome, batches


def run(store: Store, scope: Scope, plan: Plan) -> tuple[Outcome, list[str]]:
    """Runs every projection of a plan; the degree batches that were added come second.

    Slots are derived with the plan's context, so whoever runs a plan asks afterwards whether that is `unchanged`.
    """
    outcome = Outcome()
    batches: list[str] = []

    def degree() -> None:
        try:
            batches.extend(project_degree(store, scope, plan))
        except RecountNeeded:
            recount(store, scope)

    def triples() -> None:
        touched: set[tuple[str, str, str]] = set()
        _attempt(outcome, "triples", lambda: touched.update(write_statements(store, scope, plan)))
        if "triples" in outcome.failed:
            # Nothing is derived from statements that may be missing; the retry writes and derives both.
            outcome.failed["closes"] = outcome.failed["triples"]
        else:
            _attempt(outcome, "closes", lambda: derive_slots(store, scope, touched, plan))

    # None reads what another writes. The edges are most of the store's work, so they are sent first.
    _two_at_a_time(
        lambda: _attempt(outcome, "edges", lambda: project_edges(store, scope, plan)),
        triples,
        lambda: _attempt(outcome, "degree", degree),
        lambda: _attempt(outcome, "mentions", lambda: project_mentions(store, scope, plan)),
        lambda: _attempt(outcome, "facts", lambda: project_facts(store, scope, plan)),
    )
    return outcome, batches


def _two_at_a_time(*works: Callable[[], None]) -> None:
    """Runs them in their order in two threads, in the context of the caller; returns when all have ended.

    While one waits for the store the other makes its lines. More threads would only share one interpreter.
    """
    with ThreadPoolExecutor(2) as threads:
        for ended in [threads.submit(copy_context().run, work) for work in works]:
            ended.result()


def _attempt(outcome: Outcome, projection: str, work: Callable[[], object]) -> None:
    try:
        work()
    except Exception as error:  # a projection never fails the write, whatever it raises (invariant 2)
        log.warning("projection_failed", projection=projection, error_class=type(error).__name__)
        outcome.failed[projection] = error


def ontology_of(store: Store, scope: Scope) -> Ontology:
    """The namespace's ontology as it is now."""
    return Ontology.merged(read_context(store, scope).ontologies)
