"""The rows behind a triple, and whether they still stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loom_core.facts.models import SourceStatus
from loom_core.memory.current import state_of
from loom_core.projection.inputs import read_keys
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

Triple = tuple[str, str, str]

SHOWN = 10
""""Adds up to about ten source memory keys per triple"."""
PAGE = 1_000
"""Further rows read at a time while every row seen so far is superseded."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Source keys, latest first; with their status where it was asked for."""

    keys: list[str] = field(default_factory=list)
    status: list[SourceStatus] = field(default_factory=list)
    stale: bool = False


@dataclass(frozen=True, slots=True)
class _Source:
    memory_key: str
    memory_id: str
    is_open: bool


def read_sources(
    store: Store, scope: Scope, triples: Sequence[Triple], seen_at: Mapping[str, Any], *, with_status: bool
) -> dict[Triple, Sources]:
    """Up to ten source keys of each triple, by the observations that `seen_at` selects.

    With status, a triple is stale "when it is open but every row behind it is superseded": a row that was
    deleted or erased does not stand either, and rows past the ten shown are looked at too.
    """
    shown = _page(store, triples, seen_at, 0, SHOWN)
    if not with_status:
        return {triple: Sources([source.memory_key for source in rows]) for triple, rows in shown.items()}
    standing = _statuses(store, scope, [source for rows in shown.values() for source in rows])
    suspects = [
        triple
        for triple, rows in shown.items()
        if len(rows) == SHOWN and all(standing[source] != "live" for source in rows)
    ]
    attested = _attested_further(store, scope, suspects, seen_at)
    return {
        triple: Sources(
            [source.memory_key for source in rows],
            [SourceStatus(memory_key=source.memory_key, status=standing[source]) for source in rows],
            stale=triple not in attested
            and any(source.is_open for source in rows)
            and all(standing[source] != "live" for source in rows),
        )
        for triple, rows in shown.items()
    }


def _attested_further(
    store: Store, scope: Scope, suspects: Sequence[Triple], seen_at: Mapping[str, Any]
) -> set[Triple]:
    """Those of `suspects` that a live row past the ten shown still states."""
    attested: set[Triple] = set()
    for triple in suspects:
        skip = SHOWN
        while rows := _page(store, [triple], seen_at, skip, PAGE).get(triple):
            if "live" in _statuses(store, scope, rows).values():
                attested.add(triple)
                break
            skip += PAGE
    return attested


def _page(
    store: Store, triples: Sequence[Triple], seen_at: Mapping[str, Any], skip: int, limit: int
) -> dict[Triple, list[_Source]]:
    pages: dict[Triple, list[_Source]] = {}
    rows = store.rows(sql("facts.sources"), triples=list(triples), skip=skip, limit=limit, **seen_at)
    for subject, relation, object_, memory_key, (memory_id, invalid_at) in rows:
        source = _Source(memory_key, memory_id, invalid_at is None)
        pages.setdefault((subject, relation, object_), []).append(source)
    return pages


def _statuses(store: Store, scope: Scope, sources: Sequence[_Source]) -> dict[_Source, str]:
    """Each source's status: live, superseded (by its key or another), deleted, or erased."""
    keys = read_keys(store, scope, {source.memory_key for source in sources})
    lives = {key: state_of(inputs).histories for key, inputs in keys.items()}
    return {
        source: life.status if (life := lives[source.memory_key].get(source.memory_id)) else "erased"
        for source in sources
    }
