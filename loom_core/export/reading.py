"""Reads a namespace's graph in the order of its names, some tens of thousands of observations at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from loom_core import clock
from loom_core.clock import instant, optional_instant
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

OBSERVATIONS_A_PAGE = 50_000


@dataclass(frozen=True, slots=True)
class Entity:
    """A node: an entity with an edge or a triple."""

    name: str
    degree: int
    community_id: int | None


@dataclass(frozen=True, slots=True)
class Edge:
    """A pair's observations, folded: as they hold, or where none does, as they held (D41)."""

    source: str
    target: str
    co_occur: int
    observations: int
    valid_from: datetime
    valid_to: datetime | None
    invalid_at: datetime | None
    memory_keys: list[str]


@dataclass(frozen=True, slots=True)
class Triple(Edge):
    """A triple's observations, folded likewise: `source` is its subject, `target` its object."""

    relation: str
    confidence: float
    adapter_name: str
    provenance: str


@dataclass(frozen=True, slots=True)
class GraphReader:
    """A namespace's graph as it holds at `at` (µs); with `include_all` also what does not hold.

    Each part is read in ranges of names, a query a range, so that memory and time a query are those of one
    range: of about `page` observations, or of one entity's if it has more.
    """

    store: Store
    scope: Scope
    include_all: bool
    at: int
    page: int = OBSERVATIONS_A_PAGE

    @classmethod
    def of(cls, store: Store, scope: Scope, include_all: bool) -> GraphReader:
        """The graph as it holds now."""
        return cls(store, scope, include_all, clock.now())

    def entities(self) -> Iterator[Entity]:
        """By name."""
        for row in self._ranges("entity_bound", "entities"):
            yield Entity(*row)

    def edges(self) -> Iterator[Edge]:
        """Co-occurrence, by the two names; the lesser is the source."""
        for row in self._ranges("edge_bound", "edges"):
            source, target, *observed = row
            yield Edge(source, target, *_folded(observed))

    def triples(self) -> Iterator[Triple]:
        """By subject, relation and object."""
        for row in self._ranges("triple_bound", "triples"):
            subject, relation, object_, *observed, told_by = row
            yield Triple(subject, object_, *_folded(observed), relation, *told_by)

    def _ranges(self, bound: str, statement: str) -> Iterator[tuple[Any, ...]]:
        names = {"org": self.scope.org, "namespace": self.scope.namespace}
        after = ""
        while True:
            bounds = self.store.rows(sql(f"export.{bound}"), after=after, observations=self.page, **names)
            until = bounds[0][0] if bounds else ""
            yield from self.store.rows(
                sql(f"export.{statement}"),
                after=after,
                until=until,
                at=self.at,
                all=int(self.include_all),
                **names,
            )
            if not until:
                return
            after = until


Folded = tuple[int, int, datetime, datetime | None, datetime | None, list[str]]


def _folded(row: Sequence[Any]) -> Folded:
    co_occur, observations, since, (valid_to, invalid_at), keys = row
    return (
        co_occur,
        observations,
        instant(since),
        optional_instant(valid_to),
        optional_instant(invalid_at),
        keys,
    )
