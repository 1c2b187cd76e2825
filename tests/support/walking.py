"""The walk of the user's page in plain Python: what the queries must agree with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.support.graph_rows import Observation


@dataclass(frozen=True)
class Reached:
    """One node of the answer."""

    entity: str
    hop: int
    cumulative_weight: int
    via_co_occur: int
    path: tuple[str, ...]
    degree: int
    hub: bool


def weights(
    observations: Iterable[Observation], at: int, relations: Sequence[str] | None = None
) -> dict[str, dict[str, int]]:
    """entity -> neighbour -> observations that hold at `at`; of triples where `relations` is not None."""
    found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for o in observations:
        wanted = (
            not o.relation
            if relations is None
            else bool(o.relation) and (not relations or o.relation in relations)
        )
        if wanted and o.holds(at):
            found[o.a][o.b] += 1
            if o.a != o.b:
                found[o.b][o.a] += 1
    return found


def typed_degrees(observations: Iterable[Observation], at: int) -> dict[str, int]:
    """Typed observations that hold at `at`, by either end."""
    found: dict[str, int] = defaultdict(int)
    for o in observations:
        if o.relation and o.holds(at):
            for end in {o.a, o.b}:
                found[end] += 1
    return found


def score(rank_by: str, weight: int, degree: int) -> Fraction:
    """An exact stand-in for the page's score: cosine squared orders like cosine."""
    mass = degree or weight
    if rank_by == "co_occur":
        return Fraction(weight)
    return Fraction(weight, mass) if rank_by == "specificity" else Fraction(weight * weight, mass)


def walk(
    neighbours: Mapping[str, Mapping[str, int]],
    degrees: Mapping[str, int],
    seed: str,
    *,
    max_hops: int,
    top_k: int,
    max_nodes: int,
    rank_by: str,
    hub_degree: int,
    hub_share: float,
    min_co_occur: int,
) -> tuple[list[Reached], bool]:
    """The nodes in order, and whether `max_nodes` cut anything."""
    start = Reached(seed, 0, 0, 0, (seed,), 0, False)
    whole: list[Reached] = []
    visited = {seed}
    frontier = [start]
    for hop in range(1, max_hops + 1):
        claims: dict[str, list[tuple[Fraction, int, str, Reached]]] = defaultdict(list)
        for parent in frontier:
            children = [
                (-score(rank_by, weight, degrees.get(child, 0)), -weight, child)
                for child, weight in neighbours.get(parent.entity, {}).items()
                if weight >= min_co_occur and child not in visited
            ]
            for negative_score, negative_weight, child in sorted(children)[:top_k]:
                claims[child].append((negative_score, negative_weight, parent.entity, parent))
        level = []
        for child, rivals in claims.items():
            _, negative_weight, _, parent = min(rivals, key=lambda claim: claim[:3])
            weight, degree = -negative_weight, degrees.get(child, 0)
            is_hub = bool(hub_degree and degree >= hub_degree)
            is_hub |= bool(hub_share and degree and weight / degree <= hub_share)
            level.append(
                Reached(
                    child,
                    hop,
                    parent.cumulative_weight + weight,
                    weight,
                    (*parent.path, child),
                    degree,
                    is_hub,
                )
            )
        level.sort(key=lambda node: (-node.cumulative_weight, node.entity))
        whole += level
        visited |= set(claims)
        frontier = [node for node in level if not node.hub]
    return whole[:max_nodes], len(whole) > max_nodes
