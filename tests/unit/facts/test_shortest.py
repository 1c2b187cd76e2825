from __future__ import annotations

from itertools import pairwise

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_core.facts.shortest import Side, best_path

Rows = list[tuple[str, str, int]]


def sides(edges: Rows, start: str, goal: str, left_hops: int, right_hops: int) -> tuple[Side, Side]:
    both = edges + [(b, a, w) for a, b, w in edges]
    left, right = Side(start), Side(goal)
    for side, hops in ((left, left_hops), (right, right_hops)):
        for _ in range(hops):
            side.advance([r for r in both if r[0] in side.frontier and r[1] not in side.depths], top_k=100)
    return left, right


def test_the_strongest_of_equally_short_paths_wins() -> None:
    edges = [("a", "m", 9), ("m", "z", 1), ("a", "n", 2), ("n", "z", 2)]
    assert best_path(*sides(edges, "a", "z", 1, 1)) == ["a", "n", "z"]


def test_equally_strong_paths_are_told_apart_by_name_not_by_their_stronger_half() -> None:
    edges = [("a", "m", 1), ("m", "z", 1), ("a", "n", 9), ("n", "z", 1)]
    assert best_path(*sides(edges, "a", "z", 1, 1)) == ["a", "m", "z"]


def test_sides_that_have_not_met_make_no_path() -> None:
    assert best_path(*sides([("a", "b", 1), ("y", "z", 1)], "a", "z", 1, 1)) is None


def test_a_row_past_top_k_is_not_taken_and_is_remembered() -> None:
    side = Side("a")
    side.advance([("a", "b", 3), ("a", "c", 2), ("a", "d", 1)], top_k=2)
    assert (side.frontier, side.trimmed) == (["b", "c"], True)


def test_exactly_top_k_rows_are_not_a_trim() -> None:
    side = Side("a")
    side.advance([("a", "b", 3), ("a", "c", 2)], top_k=2)
    assert (side.frontier, side.trimmed) == (["b", "c"], False)


pairs = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh"), st.integers(1, 4)).filter(
        lambda e: e[0] != e[1]
    ),
    min_size=1,
    max_size=20,
    unique_by=lambda e: frozenset(e[:2]),
)


@pytest.mark.parametrize("split", [(3, 1), (2, 2), (1, 3), (4, 0)])
@given(edges=pairs)
def test_wherever_the_sides_meet_the_path_is_the_same(edges: Rows, split: tuple[int, int]) -> None:
    graph = networkx.Graph()
    graph.add_weighted_edges_from(edges)
    found = best_path(*sides(edges, "a", "b", *split))
    if "a" not in graph or "b" not in graph or not networkx.has_path(graph, "a", "b"):
        assert found is None
        return
    rivals = [list(path) for path in networkx.all_shortest_paths(graph, "a", "b")]
    if len(rivals[0]) - 1 > 4:
        assert found is None
        return

    def strength(path: list[str]) -> int:
        return min(graph[x][y]["weight"] for x, y in pairwise(path))

    assert found == min(rivals, key=lambda path: (-strength(path), path))
