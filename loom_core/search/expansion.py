"""`memory.search` in graph mode: rows one hop from the query's entities, and what led to each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from loom_core import clock
from loom_core.facts.communities import community_ids
from loom_core.facts.edges import EdgeSet, Step
from loom_core.facts.tree import HubRule
from loom_core.memory.rows import MemoryRow
from loom_core.search.about import degrees, entities_of, rows_about, telling
from loom_core.search.live import FIRST_PAGE, first_live
from loom_core.search.mentions import MAX_ENTITIES, named_entities
from loom_core.search.text import search_text
from loom_core.settings import Settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store, in_chunks
from loom_core.tenancy import Scope

NEIGHBOURS = 20
"""Neighbours of each entity that are looked at, over each edge set."""
ROWS_ABOUT_ENTITY = 200
ROWS_ABOUT_NEIGHBOUR = 50
TEXT_SEEDS = 5
"""Text hits whose entities are seeds too under LOOM_MEMORY_SEARCH_GRAPH_SEED=hits (D44)."""
LINKS = 1_000
A_HOP_AWAY = 0.5
"""What is left of a score one hop on, so that a row about the entity itself comes first."""
OTHER_COMMUNITY = 0.5
"""What is left of it where the hop leads out of the entity's community."""

VIA = ("entity", "triple", "link", "co_occur")
"""From the most to the least said: which leg names a hit that several legs found equally well."""


@dataclass(slots=True)
class GraphHit:
    """A key that the graph leads to, and each leg's share of its score. `newest`: its latest arrival (µs)."""

    memory_key: str
    legs: dict[str, float] = field(default_factory=dict)
    versions: set[str] = field(default_factory=set)
    newest: int = 0

    @property
    def memory_ids(self) -> Sequence[str]:
        """The versions that match; any does where a link leads to the key."""
        return () if "link" in self.legs else sorted(self.versions)

    @property
    def score(self) -> float:
        """The legs' shares, summed in a fixed order."""
        return math.fsum(self.legs.values())

    @property
    def via(self) -> str:
        """The leg with the largest share."""
        return max(self.legs, key=lambda leg: (self.legs[leg], -VIA.index(leg)))


def search_graph(
    store: Store, scope: Scope, settings: Settings, query: str, limit: int
) -> list[tuple[GraphHit, MemoryRow]]:
    """The best `limit` live rows about the query's entities, about their neighbours, or linked with those.

    A row about an entity scores what the entity tells (`about.telling`). One about a neighbour scores half of
    that, times the edge's strength: the cosine of a co-occurrence, n / (n + 1) of n typed observations; half
    again where the two are of different communities. A linked row scores half of the row at the other end of
    the link. Hubs are not looked behind, by the rule of `facts.traverse`.
    """
    seeds = named_entities(store, scope, query)
    if settings.memory_search_graph_seed == "hits":
        hits = search_text(store, scope, query, (), TEXT_SEEDS)
        seeds += entities_of(store, scope, [row.memory_id for _, row in hits])
    seeds = list(dict.fromkeys(seeds))[:MAX_ENTITIES]
    if not seeds:
        return []
    degree_of = degrees(store, scope, seeds)
    tells = telling(degree_of)
    found = _Found(store, scope)
    found.add_rows_about("entity", tells, ROWS_ABOUT_ENTITY)
    found.add_linked()
    for via, strengths in _neighbours(store, scope, settings, degree_of, tells):
        found.add_rows_about(via, strengths, ROWS_ABOUT_NEIGHBOUR)
    ranked = sorted(found.hits.values(), key=lambda hit: (-hit.score, -hit.newest, hit.memory_key))
    return first_live(store, scope, in_chunks(ranked, max(FIRST_PAGE, 2 * limit)), limit)


class _Found:
    """The hits of one search by key, as its legs add to them."""

    def __init__(self, store: Store, scope: Scope) -> None:
        self._store = store
        self._scope = scope
        self.hits: dict[str, GraphHit] = {}

    def add_rows_about(self, via: str, scores: dict[str, float], per_entity: int) -> None:
        """Adds the newest rows about each entity of `scores`: the query's own add up, else the best counts."""
        if not scores:
            return
        for mention in rows_about(self._store, self._scope, scores, per_entity):
            hit = self._hit(mention.memory_key)
            had, more = hit.legs.get(via, 0.0), scores[mention.entity]
            hit.legs[via] = had + more if via == "entity" else max(had, more)
            hit.versions.update(mention.memory_ids)
            hit.newest = max(hit.newest, mention.newest)

    def add_linked(self) -> None:
        """Adds what rows about the query's entities link to, and what links to them."""
        about = {key: hit.legs["entity"] for key, hit in self.hits.items()}
        names = {"org": self._scope.org, "namespace": self._scope.namespace}
        for ends in self._store.rows(sql("search.links"), keys=sorted(about), limit=LINKS, **names):
            for near, far in (ends, reversed(ends)):
                if near in about:
                    legs = self._hit(far).legs
                    legs["link"] = max(legs.get("link", 0.0), A_HOP_AWAY * about[near])

    def _hit(self, memory_key: str) -> GraphHit:
        return self.hits.setdefault(memory_key, GraphHit(memory_key))


def _neighbours(
    store: Store, scope: Scope, settings: Settings, degree_of: dict[str, int], tells: dict[str, float]
) -> Iterator[tuple[str, dict[str, float]]]:
    """(leg, neighbour -> score) of both edge sets, as they hold now."""
    at, seeds = clock.now(), list(tells)
    hubs = HubRule(share=settings.facts_traverse_hub_share)
    typed = EdgeSet(store, scope, at, 1, ()).hop(seeds, seeds, NEIGHBOURS, "cosine")
    plain = EdgeSet(store, scope, at, 1, None).hop(seeds, seeds, NEIGHBOURS, "cosine")
    community = community_ids(store, scope, [*seeds, *(step.child for step in (*typed, *plain))])

    def best(steps: Iterable[Step], leg: str) -> dict[str, float]:
        scores: dict[str, float] = {}
        for step in steps:
            if hubs.covers(step.weight, step.degree):
                continue
            strength = step.weight / (step.weight + 1)
            if leg == "co_occur":
                strength = step.weight / math.sqrt(
                    max(degree_of[step.parent], step.weight) * max(step.degree, step.weight)
                )
            if step.parent in community and step.child in community:
                strength *= 1 if community[step.parent] == community[step.child] else OTHER_COMMUNITY
            score = A_HOP_AWAY * tells[step.parent] * strength
            scores[step.child] = max(scores.get(step.child, 0.0), score)
        return scores

    yield "triple", best(typed, "triple")
    yield "co_occur", best(plain, "co_occur")
