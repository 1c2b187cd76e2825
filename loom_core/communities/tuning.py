"""What an operator looks at before setting the hub drop: the degree tail, and what each fraction would do."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from loom_core.communities.graph import Graph
from loom_core.communities.hubs import HubOrder, NameOrder, whole_count
from loom_core.communities.numbering import number_communities
from loom_core.communities.search import DropRule, PassProgress, choose_pass, run_pass

TAIL = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
"""The fractions of the entities at which the tail is read."""


class TailPoint(NamedTuple):
    """The entities of the highest weighted degrees."""

    fraction: float
    entities: int
    """How many that is, rounded down."""
    degree: int
    """The lowest degree among them."""
    weight_share: float
    """Their part of the sum of all degrees."""


def degree_tail(graph: Graph) -> list[TailPoint]:
    """The tail of the weighted degrees, from the strongest ten-thousandth of the entities to all of them.

    A few entities with a large part of the weight are hubs: a drop should end where `weight_share` stops
    climbing fast. A fraction that is less than one entity is left out.
    """
    degrees = np.sort(graph.degrees)[::-1]
    running = np.cumsum(degrees)
    counts = [(fraction, whole_count(fraction, graph.entities)) for fraction in TAIL]
    return [
        TailPoint(fraction, count, int(degrees[count - 1]), float(running[count - 1] / running[-1]))
        for fraction, count in counts
        if count > 0
    ]


class Outcome(NamedTuple):
    """What one fraction of the doubling series would do."""

    fraction: float
    dropped: NDArray[np.uint64]
    """Hashes of all that it drops at first, the strongest first."""
    left_out: NDArray[np.uint64]
    """Those of them that do not return."""
    communities: int
    giant_share: float
    modularity: float
    kept: bool
    """The one that a partition would keep."""


def what_if(
    graph: Graph,
    rule: DropRule | None = None,
    *,
    by_name: NameOrder | None = None,
    progress: PassProgress | None = None,
) -> list[Outcome]:
    """Every fraction of the rule's series, those too that a partition would not come to try."""
    if graph.entities == 0:
        return []
    rule = rule or DropRule()
    hubs = HubOrder(graph, by_name)
    series = rule.series(graph.entities)
    passes = []
    for drop in series:
        passes.append(run_pass(graph, drop, hubs))
        if progress is not None:
            progress(len(passes), len(series))
    kept, _ = choose_pass(passes, rule.giant_share)
    return [
        Outcome(
            fraction=found.drop.fraction,
            dropped=graph.hashes[hubs.strongest_first(hubs.first(found.drop.entities))],
            left_out=graph.hashes[hubs.strongest_first(found.left_out)],
            communities=number_communities(graph, found.labels).communities,
            giant_share=found.giant_share,
            modularity=found.modularity,
            kept=found is kept,
        )
        for found in passes
    ]
