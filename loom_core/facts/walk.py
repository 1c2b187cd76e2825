"""`facts.traverse`: the neighbourhood of an entity, one bounded query a hop."""

from __future__ import annotations

from collections.abc import Mapping

from loom_core.facts.communities import community_ids
from loom_core.facts.edges import Edge, EdgeSet, Pair
from loom_core.facts.models import FactsTraverseRequest, FactsTraverseResponse, RankBy, TraversalNode
from loom_core.facts.names import resolve
from loom_core.facts.tree import HubRule, Node, grow, seed_node
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tenancy import Scope


def traverse(
    store: Store, scope: Scope, settings: Settings, request: FactsTraverseRequest
) -> FactsTraverseResponse:
    """Walks from the seed. Empty where the seed has no canonical form (D43)."""
    (seed,) = resolve(store, scope, request.seed_entity)
    if seed is None:
        return FactsTraverseResponse(seed="", seed_community_id=None, nodes=[], truncated=False)
    edges = EdgeSet.asked_for(store, scope, request)
    share = settings.facts_traverse_hub_share if request.hub_share is None else request.hub_share
    nodes, truncated = walk(
        edges,
        seed,
        max_hops=request.max_hops,
        top_k=request.top_k_per_hop,
        max_nodes=request.max_nodes,
        rank_by=request.rank_by or settings.facts_traverse_rank_by,
        hubs=HubRule(request.hub_degree or 0, share),
    )
    communities = community_ids(store, scope, [seed, *(node.entity for node in nodes)])
    folded = edges.between([_edge_to(node) for node in nodes])
    return FactsTraverseResponse(
        seed=seed,
        seed_community_id=communities.get(seed),
        nodes=[_reported(node, folded, communities) for node in nodes],
        truncated=truncated,
        hubs=[node.entity for node in nodes if node.hub],
    )


def walk(
    edges: EdgeSet, seed: str, *, max_hops: int, top_k: int, max_nodes: int, rank_by: RankBy, hubs: HubRule
) -> tuple[list[Node], bool]:
    """The nodes in the order of the answer, and whether `max_nodes` cut the walk short.

    "Each entity is reported once, at the first hop that reaches it"; a frontier has at most `top_k` ** hop
    entities, and at most `max_nodes`. "`truncated` means `max_nodes` and nothing else" (D26): a walk that
    fills it exactly looks one hop further to know whether anything was left.
    """
    nodes: list[Node] = []
    visited = [seed]
    frontier = {seed: seed_node(seed)}
    for _ in range(max_hops):
        if not frontier:
            break
        level = grow(frontier, edges.hop(list(frontier), visited, top_k, rank_by), hubs)
        room = max_nodes - len(nodes)
        nodes += level[:room]
        if len(level) > room:
            return nodes, True
        visited += [node.entity for node in level]
        frontier = {node.entity: node for node in level if not node.hub}
    return nodes, False


def _edge_to(node: Node) -> Pair:
    return node.path[-2], node.entity


def _reported(node: Node, folded: Mapping[Pair, Edge], communities: Mapping[str, int]) -> TraversalNode:
    edge = folded.get(_edge_to(node))
    return TraversalNode(
        entity=node.entity,
        hop=node.hop,
        cumulative_weight=node.cumulative_weight,
        via_co_occur=node.weight,
        path=list(node.path),
        valid_from=edge.valid_from if edge else None,
        valid_to=edge.valid_to if edge else None,
        degree=node.degree,
        community_id=communities.get(node.entity),
        hub=node.hub,
        via_relation=edge.relation if edge else None,
        via_direction=edge.direction if edge else None,
        via_provenance=edge.provenance if edge else None,
    )
