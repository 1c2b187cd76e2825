"""`facts.path`: "a bounded bidirectional breadth-first search over the same edges, meeting in the middle"."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from loom_core.facts.edges import Edge, EdgeSet, Pair
from loom_core.facts.models import FactsPathRequest, FactsPathResponse, PathEdge
from loom_core.facts.names import resolve
from loom_core.facts.shortest import Side, best_path
from loom_core.storage.store import Store
from loom_core.tenancy import Scope


@dataclass(frozen=True, slots=True)
class Search:
    """What a search found: the path, or how far it looked; and whether it may have missed something."""

    path: list[str] | None
    explored: int
    truncated: bool


def find_path(store: Store, scope: Scope, request: FactsPathRequest) -> FactsPathResponse:
    """The shortest chain of edges between two entities. Both ends alike: a path of one, unseen (D27)."""
    start, goal = resolve(store, scope, request.entity_a, request.entity_b)
    if start is None or goal is None:
        return _answer(start, goal, Search(None, 0, False), [])
    if start == goal:
        return _answer(start, goal, Search([start], 0, False), [])
    edges = EdgeSet.asked_for(store, scope, request)
    while True:
        search = search_path(edges, start, goal, max_hops=request.max_hops, top_k=request.top_k_per_hop)
        steps = list(pairwise(search.path)) if search.path else []
        folded = edges.between(steps)
        # An edge erased since the search found it is missing here: then the answer is what remains.
        if all(pair in folded for pair in steps):
            break
    shown = [_shown(pair, folded[pair]) for pair in steps]
    return _answer(start, goal, search, shown)


def search_path(edges: EdgeSet, start: str, goal: str, *, max_hops: int, top_k: int) -> Search:
    """Searches from both ends, the smaller frontier first, each hop keeping `top_k` neighbours an entity.

    The first query looks around both ends at once: an end without an edge settles the matter. A side that
    runs dry untrimmed has seen its whole component: there is no connection, whatever the other side left out.
    """
    left, right = Side(start), Side(goal)
    around: dict[str, list[tuple[str, str, int]]] = {start: [], goal: []}
    for row in edges.neighbours([start, goal], [], top_k + 1):
        around[row[0]].append(row)
    if not all(around.values()):
        return Search(None, 0, False)
    trimmed = False
    for _ in range(max_hops):
        side = left if len(left.frontier) <= len(right.frontier) else right
        rows = around.pop(side.end, None)
        if rows is None:
            rows = edges.neighbours(side.frontier, side.depths, top_k + 1)
        side.advance(rows, top_k)
        trimmed = left.trimmed or right.trimmed
        if path := best_path(left, right):
            return Search(path, len(path) - 1, trimmed)
        if not side.frontier:
            return Search(None, left.explored + right.explored, side.trimmed)
    return Search(None, left.explored + right.explored, True)


def _shown(pair: Pair, edge: Edge) -> PathEdge:
    return PathEdge(
        source=pair[0],
        target=pair[1],
        co_occur=edge.weight,
        valid_from=edge.valid_from,
        valid_to=edge.valid_to,
        relation=edge.relation,
        direction=edge.direction,
    )


def _answer(start: str | None, goal: str | None, search: Search, edges: list[PathEdge]) -> FactsPathResponse:
    return FactsPathResponse(
        entity_a=start or "",
        entity_b=goal or "",
        found=search.path is not None,
        path=search.path or [],
        edges=edges,
        hops=search.explored,
        truncated=search.truncated,
    )
