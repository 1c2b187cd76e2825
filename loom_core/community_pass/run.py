"""One pass over one namespace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import structlog

from loom_core import clock, faults
from loom_core.communities import DropRule, Progress, build_graph, partition
from loom_core.community_pass.coverage import mark_looked_at
from loom_core.community_pass.reading import graph_state, open_graph
from loom_core.community_pass.writing import make_visible, pass_id, prune, write_members
from loom_core.coordination.work import Handled
from loom_core.errors import LoomError
from loom_core.settings import Settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

log = structlog.get_logger(__name__)


class NamespaceTooLarge(LoomError):
    """A pass would need more memory than `LOOM_ENTITY_COMMUNITIES_MEMORY_MB` allows."""


@dataclass(frozen=True, slots=True)
class PassResult:
    """What a pass came to. `empty`: nobody has a community, so the previous pass stays readable (D32)."""

    status: Literal["written", "unchanged", "empty"]
    entities: int = 0
    edges: int = 0
    communities: int = 0
    dropped: int = 0
    seconds: float = 0.0


def run_if_changed(store: Store, scope: Scope, settings: Settings) -> Handled:
    """The worker's batch: a pass if the graph changed, then a mark that the namespace was looked at."""
    result = run_pass(store, scope, settings, force=False)
    mark_looked_at(store, scope)
    log.info("community_pass", org=scope.org, namespace=scope.namespace, status=result.status,
             entities=result.entities, communities=result.communities, seconds=result.seconds)  # fmt: skip
    return Handled(done=1 if result.status == "written" else 0)


def run_pass(
    store: Store, scope: Scope, settings: Settings, *, force: bool = True, progress: Progress | None = None
) -> PassResult:
    """Computes and stores the communities of a namespace as it is now; unless `force`, only if it changed.

    A pass that fails leaves the previous one readable. Raises `NamespaceTooLarge`, naming the setting;
    `HashCollision`; `Unavailable` if the store is away.
    """
    started_at = clock.now()
    state = graph_state(store, scope, settings, started_at)
    stored = store.rows(sql("community_pass.current_pass"), org=scope.org, namespace=scope.namespace)
    previous, graph_hash = stored[0] if stored else ("", "")
    if graph_hash == state.graph_hash and not force:
        return PassResult("unchanged")
    reader = open_graph(store, scope, started_at)
    _refuse_too_large(scope, state.memory_mib(reader.entities), settings)
    faults.reach("entity_communities", "read")
    graph = build_graph(reader.edges())
    rule = DropRule(
        settings.entity_communities_hub_drop_fraction,
        settings.entity_communities_hub_drop_max,
        settings.entity_communities_giant_share,
    )
    found = partition(
        graph, rule, levels=settings.entity_communities_levels, by_name=reader.order, progress=progress
    )
    if not found.levels:
        return PassResult("empty", graph.entities, graph.edges, 0, len(found.dropped), _seconds(started_at))
    faults.reach("entity_communities", "write")
    id_ = pass_id(started_at)
    dropped = write_members(store, reader, graph, found, id_)
    make_visible(store, scope, id_, state.graph_hash, graph, found, dropped, started_at)
    prune(store, scope, id_, previous, started_at, settings)
    communities = found.levels[0].communities
    return PassResult("written", graph.entities, graph.edges, communities, len(dropped), _seconds(started_at))


def _refuse_too_large(scope: Scope, needed_mib: int, settings: Settings) -> None:
    allowed = settings.entity_communities_memory_mb
    if needed_mib > allowed:
        raise NamespaceTooLarge(
            "namespace_too_large",
            f"{scope.org}/{scope.namespace}: a pass needs about {needed_mib} MiB, "
            f"LOOM_ENTITY_COMMUNITIES_MEMORY_MB allows {allowed}",
        )


def _seconds(started_at: int) -> float:
    return (clock.now() - started_at) / clock.SECOND
