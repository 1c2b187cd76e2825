"""What a walk or a path search may follow: co-occurrence or typed triples, as they hold at an instant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, Self

from loom_core import clock
from loom_core.canonical import normalise_relation
from loom_core.clock import instant, optional_instant, optional_micros
from loom_core.facts.models import FactsPathRequest, FactsTraverseRequest, Provenance, RankBy
from loom_core.storage.statements import sql
from loom_core.storage.store import Store, in_chunks
from loom_core.tenancy import Scope

Pair = tuple[str, str]
Direction = Literal["out", "in"]

PAIRS_A_QUERY = 1_000


class Step(NamedTuple):
    """A pair seen from the frontier, its observations summed."""

    parent: str
    child: str
    weight: int
    degree: int
    score: float


@dataclass(frozen=True, slots=True)
class Edge:
    """A pair, folded over its observations (D41); the last three fields on typed edges only."""

    weight: int
    valid_from: datetime
    valid_to: datetime | None
    relation: str | None = None
    direction: Direction | None = None
    provenance: Provenance | None = None


@dataclass(frozen=True, slots=True)
class EdgeSet:
    """One namespace's edges of one kind at one instant, those under `min_co_occur` observations left out.

    `relations` is None for co-occurrence; a tuple for typed edges: of these verbs, of any where it is empty.
    """

    store: Store
    scope: Scope
    at: int
    min_co_occur: int
    relations: tuple[str, ...] | None

    @classmethod
    def asked_for(cls, store: Store, scope: Scope, request: FactsTraverseRequest | FactsPathRequest) -> Self:
        """The edges a request names: `relations` implies `labeled`; a verb without a stored form is none."""
        relations = None
        if request.labeled or request.relations:
            relations = tuple(sorted({normalise_relation(verb)[0] for verb in request.relations}))
        as_of = optional_micros(request.as_of)
        return cls(store, scope, clock.now() if as_of is None else as_of, request.min_co_occur, relations)

    def hop(self, frontier: Sequence[str], visited: Iterable[str], top_k: int, rank_by: RankBy) -> list[Step]:
        """Each parent's `top_k` best children outside `visited`, one query for the whole frontier.

        The score is the weight, weight / degree, or weight squared / degree, which orders like
        weight / sqrt(degree) and is equal wherever that is. Where no degree is counted (a past whose rows
        are all superseded) the weight stands in for it: it cannot be less.
        """
        rows = self._rows(
            "hop",
            frontier=list(frontier),
            visited=list(visited),
            top_k=top_k,
            rank_by=rank_by,
            min_co_occur=self.min_co_occur,
        )
        return [
            Step(parent, child, weight, degree, score) for parent, child, weight, degree, _, score in rows
        ]

    def neighbours(
        self, frontier: Sequence[str], visited: Iterable[str], top_k: int
    ) -> list[tuple[str, str, int]]:
        """(parent, child, weight): each parent's `top_k` heaviest children outside `visited`."""
        return self._rows(
            "neighbours",
            frontier=list(frontier),
            visited=list(visited),
            top_k=top_k,
            min_co_occur=self.min_co_occur,
        )

    def between(self, pairs: Sequence[Pair]) -> dict[Pair, Edge]:
        """The edges of given pairs, seen from the first of each."""
        edges = {}
        for chunk in in_chunks(pairs, PAIRS_A_QUERY):
            for source, target, weight, since, until, *via in self._rows("edges", pairs=list(chunk)):
                told = via[0] if via else ()
                edges[source, target] = Edge(weight, instant(since), optional_instant(until), *told)
        return edges

    def _rows(self, statement: str, **parameters: Any) -> list[tuple[Any, ...]]:
        if self.relations is not None:
            statement, parameters["relations"] = f"typed_{statement}", list(self.relations)
        return self.store.rows(
            sql(f"facts_walk.{statement}"),
            org=self.scope.org,
            namespace=self.scope.namespace,
            at=self.at,
            **parameters,
        )
