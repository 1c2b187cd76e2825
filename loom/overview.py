"""What a graph holds, on one screen."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from loom.cli.session import out
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

TOP = 15


def print_overview(store: Store, scope: Scope) -> None:
    """Prints counts, top entities, strongest pairs, some triples with their source, failures by state."""
    names = {"org": scope.org, "namespace": scope.namespace}
    memories, entities, edges, triples = store.rows(sql("overview.counts"), **names)[0]
    out.print(f"\n{memories} memories, {entities} entities, {edges} edges, {triples} triples")
    top = Table("entity", "degree", title="top entities", box=None, title_justify="left")
    for entity, degree in store.rows(sql("overview.top_entities"), limit=TOP, **names):
        top.add_row(entity, str(degree))
    pairs = Table("pair", "memories", title="strongest pairs", box=None, title_justify="left")
    for a, b, count in store.rows(sql("overview.top_pairs"), limit=TOP, **names):
        pairs.add_row(f"{a} — {b}", str(count))
    facts = Table("triple", "source", title="some triples", box=None, title_justify="left")
    for subject, relation, object_, key in store.rows(sql("overview.triples"), limit=TOP, **names):
        facts.add_row(escape(f"{subject} → {relation} → {object_}"), escape(key[:40]))
    for table in (top, pairs, facts):
        out.print(table)
        out.print()
    states = store.rows(sql("overview.failures"), **names)
    out.print("failures: " + (", ".join(f"{count} {state}" for state, count in states) or "none"))
