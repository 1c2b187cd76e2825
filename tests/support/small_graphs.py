"""Small graphs as the community core holds them, for tests that look at one step of it."""

import numpy as np
from hypothesis import strategies as st

from loom_core.communities import EdgeBatch, Graph, build_graph

MIX = 0x9E3779B97F4A7C15


def hash_of(entity: int) -> int:
    """A hash that orders entities otherwise than their numbers do."""
    return (entity + 1) * MIX % 2**64


def graph_of(edges: list[tuple[int, int, int]]) -> Graph:
    a, b, weights = zip(*edges, strict=True) if edges else ((), (), ())
    return build_graph(
        [
            EdgeBatch(
                np.array([hash_of(k) for k in a], np.uint64),
                np.array([hash_of(k) for k in b], np.uint64),
                np.array(weights, np.int64),
            )
        ]
    )


def ids_of(graph: Graph, entities: list[int]) -> np.ndarray:
    return np.searchsorted(graph.hashes, np.array([hash_of(k) for k in entities], np.uint64)).astype(np.int32)


def entities_of(graph: Graph, ids: np.ndarray) -> list[int]:
    inverse = pow(MIX, -1, 2**64)
    return [int(graph.hashes[k]) * inverse % 2**64 - 1 for k in ids]


edge_lists = st.lists(
    st.tuples(st.integers(0, 15), st.integers(0, 15), st.one_of(st.integers(0, 4), st.integers(0, 2**33))),
    max_size=80,
)
labelled_graphs = edge_lists.map(graph_of).flatmap(
    lambda graph: st.tuples(
        st.just(graph),
        st.lists(
            st.integers(-1, max(0, min(4, graph.entities - 1))),
            min_size=graph.entities,
            max_size=graph.entities,
        ).map(lambda labels: np.array(labels, np.int32)),
    )
)
