"""Compares the graph with what the inputs say it should be; mends it on demand (invariant 1).

Streams the keys of a namespace, runs the rules over their inputs, and asks of every table what a projector would
still write. Whatever is left over, of rows that are not there any more, is found by anti-join.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from loom_core import clock
from loom_core.memory.erase import BY_ROW
from loom_core.projection import degree, edges, recount, slots
from loom_core.projection.expire import record_event
from loom_core.projection.inputs import read_context, read_keys
from loom_core.projection.plan import Plan, make_plan
from loom_core.projection.project import project_keys
from loom_core.storage.statements import sql
from loom_core.storage.store import Store, in_chunks
from loom_core.tenancy import Scope

KEYS_A_CHUNK = 500
SLOTS_A_CHUNK = 500
EXAMPLES = 5

Progress = Callable[[str, int, int], None]
"""(stage, done, total), called as the work goes on."""


@dataclass(slots=True)
class Report:
    """Differences by kind, with a few examples each; what was compared; whether it was mended."""

    memories: int = 0
    slots: int = 0
    differences: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    repaired: bool = False

    def add(self, kind: str, example: str, count: int = 1) -> None:
        """Notes a difference."""
        self.differences[kind] += count
        shown = self.examples.setdefault(kind, [])
        if len(shown) < EXAMPLES:
            shown.append(example)

    @property
    def clean(self) -> bool:
        """Whether graph and rows agree."""
        return not self.differences


def verify(store: Store, scope: Scope, progress: Progress = lambda *_: None) -> Report:
    """Compares sums, degrees, closes and orphans of a namespace with its rows."""
    report = Report()
    keys = all_keys(store, scope)
    degrees: Counter[str] = Counter()
    done = 0
    context = read_context(store, scope)
    for chunk in in_chunks(keys, KEYS_A_CHUNK):
        plan = make_plan(read_keys(store, scope, chunk), context, None)
        _compare_rows(store, scope, plan, report)
        for planned in plan.rows:
            if planned.history.live:
                degrees.update(degree.contribution(planned))
        report.memories += len(plan.rows)
        done += len(chunk)
        progress("rows", done, len(keys))
    _compare_slots(store, scope, report, progress)
    _compare_degrees(store, scope, degrees, report)
    for table in BY_ROW:
        if table not in ("memory", "memory_extractions"):
            orphans = store.rows(
                sql("verify.orphans").format(table=table), org=scope.org, namespace=scope.namespace
            )[0][0]
            if orphans:
                report.add(f"orphans in {table}", f"{orphans} rows of versions that are not there", orphans)
    return report


def repair(store: Store, scope: Scope, report: Report, progress: Progress = lambda *_: None) -> Report:
    """Mends what `report` names, then compares again; the new report says what is left."""
    # Everything projected from here on has a higher version than whatever is stored, also if that was tampered with.
    record_event(store, scope, "repair", {"differences": sum(report.differences.values())}, clock.now(), "")
    names = {"org": scope.org, "namespace": scope.namespace}
    for table in BY_ROW:
        if table not in ("memory", "memory_extractions"):
            store.command(sql("verify.drop_orphans").format(table=table), **names)
    keys = sorted(report.keys)
    for number, chunk in enumerate(in_chunks(keys, KEYS_A_CHUNK), 1):
        project_keys(store, scope, list(chunk))
        progress("repair", min(number * KEYS_A_CHUNK, len(keys)), len(keys))
    triples = {(s, r, o) for s, r, o in store.rows(sql("projection.all_slots"), subject="", since=0, **names)}
    slots.derive_slots(store, scope, triples)
    if any(kind.startswith("degree") for kind in report.differences):
        recount.recount(store, scope)
    again = verify(store, scope, progress)
    again.repaired = True
    return again


def all_keys(store: Store, scope: Scope) -> list[str]:
    """Every memory key of a namespace, sorted."""
    return [line[0] for line in store.rows(sql("verify.keys"), org=scope.org, namespace=scope.namespace)]


def _compare_rows(store: Store, scope: Scope, plan: Plan, report: Report) -> None:
    for kind, table_lines, columns in (
        ("edges", edges.edge_lines(store, scope, plan), edges.EDGE_COLUMNS),
        ("mentions", edges.mention_lines(store, scope, plan), edges.MENTION_COLUMNS),
        ("facts", edges.fact_lines(store, scope, plan), edges.FACT_COLUMNS),
        ("statements", slots.statement_lines(store, scope, plan)[1], slots.STATEMENT_COLUMNS),
    ):
        for line in table_lines:
            named = dict(zip(columns, line, strict=True))
            report.keys.add(named["memory_key"])
            report.add(f"{kind} {'extra' if named['gone'] else 'missing or other'}", _example(line))


def _compare_slots(store: Store, scope: Scope, report: Report, progress: Progress) -> None:
    context = read_context(store, scope)
    triples = [
        (s, r, o)
        for s, r, o in store.rows(
            sql("projection.all_slots"), org=scope.org, namespace=scope.namespace, subject="", since=0
        )
    ]
    done = 0
    for chunk in whole_slots(triples):
        for change in slots.changed_intervals(store, scope, chunk, context):
            report.add("closes", slots.describe(change))
        done += len(chunk)
        progress("slots", done, len(triples))
    report.slots = len({triple[:2] for triple in triples})


def whole_slots(triples: Sequence[slots.Triple]) -> Iterator[list[slots.Triple]]:
    """Sorted triples in runs that never part a slot, so that none is derived twice."""
    run: list[slots.Triple] = []
    for triple in triples:
        if len(run) >= SLOTS_A_CHUNK and triple[:2] != run[-1][:2]:
            yield run
            run = []
        run.append(triple)
    if run:
        yield run


def _compare_degrees(store: Store, scope: Scope, wanted: Counter[str], report: Report) -> None:
    current, _ = degree.generation(store, scope)
    lines = store.rows(sql("verify.degrees"), org=scope.org, namespace=scope.namespace, generation=current)
    stored: dict[str, int] = {entity: int(total) for entity, total in lines}
    for entity in sorted(wanted.keys() | stored.keys()):
        if wanted[entity] != stored.get(entity, 0):
            report.add("degree", f"{entity}: {stored.get(entity, 0)}, should be {wanted[entity]}")


def _example(line: Sequence[object]) -> str:
    return " ".join(str(value) for value in line[2:6])
