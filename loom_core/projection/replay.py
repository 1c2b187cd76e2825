"""What operators replay: closes from their statements, projections from their rows. Both only write differences."""

from __future__ import annotations

from dataclasses import dataclass, field

from loom_core.canonical import canonicalise
from loom_core.errors import Invalid, NotFound
from loom_core.projection import edges, slots
from loom_core.projection.inputs import read_context, read_keys
from loom_core.projection.plan import make_plan
from loom_core.projection.project import project_keys
from loom_core.projection.verify import KEYS_A_CHUNK, Progress, all_keys, whole_slots
from loom_core.storage.statements import sql
from loom_core.storage.store import Store, in_chunks
from loom_core.tenancy import Scope


@dataclass(slots=True)
class Replayed:
    """Keys compared, those that differed, and the projections that failed."""

    keys: int = 0
    different: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def replay_closes(
    store: Store, scope: Scope, subject: str | None, since: int, dry_run: bool, progress: Progress
) -> list[str]:
    """Derives slots again and writes what changed: a line each. `since` (µs): statements written since then.

    Raises `Invalid` for a subject without a canonical form.
    """
    name = ""
    if subject is not None:
        canonical = canonicalise(subject)
        if canonical is None:
            raise Invalid("no_canonical_form", f"subject: {subject!r} has no canonical form")
        name = read_context(store, scope).node(canonical)
    names = {"org": scope.org, "namespace": scope.namespace}
    triples = [
        (s, r, o) for s, r, o in store.rows(sql("projection.all_slots"), subject=name, since=since, **names)
    ]
    changed: list[str] = []
    done = 0
    for chunk in whole_slots(triples):
        found = slots.changed_intervals(store, scope, chunk, read_context(store, scope))
        changed += [slots.describe(change) for change in found]
        if found and not dry_run:
            slots.derive_slots(store, scope, chunk)
        done += len(chunk)
        progress("slots", done, len(triples))
    return changed


def replay_projections(
    store: Store, scope: Scope, key: str | None, dry_run: bool, progress: Progress
) -> Replayed:
    """Projects the rows of one key, or of all, again; says which keys differed from what was stored.

    Raises `NotFound` for a key without rows.
    """
    keys = [key] if key is not None else all_keys(store, scope)
    if key is not None and not read_keys(store, scope, keys)[key].rows:
        raise NotFound("no_such_memory", f"there is no row of key {key!r} in {scope.org}/{scope.namespace}")
    done = Replayed()
    for chunk in in_chunks(keys, KEYS_A_CHUNK):
        plan = make_plan(read_keys(store, scope, chunk), read_context(store, scope), None)
        different = set()
        for lines, columns in (
            (edges.edge_lines(store, scope, plan), edges.EDGE_COLUMNS),
            (edges.mention_lines(store, scope, plan), edges.MENTION_COLUMNS),
            (edges.fact_lines(store, scope, plan), edges.FACT_COLUMNS),
            (slots.statement_lines(store, scope, plan)[1], slots.STATEMENT_COLUMNS),
        ):
            different |= {line[columns.index("memory_key")] for line in lines}
        done.different += sorted(different)
        if not dry_run:
            done.failed += project_keys(store, scope, list(chunk)).degraded()
        done.keys += len(chunk)
        progress("rows", done.keys, len(keys))
    return done
