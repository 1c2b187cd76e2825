"""`detect`, as its callers meet it."""

import random
import subprocess
import sys
from itertools import chain

import numpy as np
import pytest

from loom_core.communities import detect
from tests.support.planted_graphs import Edges, clique, columns


def groups(labels: dict) -> set[frozenset]:
    found: dict[int, set] = {}
    for entity, label in labels.items():
        found.setdefault(label, set()).add(entity)
    return {frozenset(members) for members in found.values()}


def random_graph(entities: int, chance: float, seed: int) -> Edges:
    rng = random.Random(seed)
    return [
        (a, b, rng.randint(1, 3))
        for a, b, _ in clique([f"n{k}" for k in range(entities)])
        if rng.random() < chance
    ]


STAR = [("centre", f"leaf{k}", 2) for k in range(4)]
K22 = [(a, b, 2) for a in "ab" for b in "cd"]


@pytest.mark.parametrize(
    "edges",
    [[("x", "y", 2)], clique("xyz", 2), K22, STAR, *(random_graph(30, 0.1, seed) for seed in range(50))],
)
@pytest.mark.timeout(60)  # most of it is for the first call, which compiles
def test_b43_propagation_ends(edges: Edges) -> None:
    found = detect(*columns(edges))
    assert {*found.labels, *found.dropped} == {name for a, b, _ in edges for name in (a, b)}


@pytest.mark.parametrize("names", ["xy", "xyz"])
def test_b43_a_pair_and_a_triangle_are_one_community_each(names: str) -> None:
    assert detect(*columns(clique(names, 2))).labels == dict.fromkeys(names, 0)


def test_b44_a_hub_over_ten_cliques_is_dropped_and_the_cliques_stay_apart() -> None:
    cliques = [[f"m{k}_{i}" for i in range(5)] for k in range(10)]
    edges = [edge for names in cliques for edge in clique(names)]
    edges += [("user", name, 1) for name in chain(*cliques)]
    found = detect(*columns(edges))
    assert found.dropped == ("user",)
    assert groups(found.labels) == {frozenset(names) for names in cliques}
    assert found.giant_share == pytest.approx(5 / 51)
    assert not found.capped


@pytest.mark.parametrize(
    ("edges", "options"),
    [
        ([], {}),
        ([("a", "a", 3)], {}),
        ([("a", "b", 0)], {}),
        (clique("abcdef"), {"hub_drop_fraction": 1.0, "hub_drop_max": 1.0}),
    ],
    ids=["no rows", "one entity", "weight 0", "every entity dropped"],
)
def test_b46_a_graph_without_edges_left_has_no_communities(edges: Edges, options: dict) -> None:
    found = detect(*columns(edges), **options)
    assert found.labels == {}
    assert found.giant_share == 0
    assert not found.capped


def test_ids_are_small_integers_the_largest_community_first() -> None:
    edges = clique("abc") + clique("pqrstuv") + clique("wxyz1")
    labels = detect(*columns(edges)).labels
    assert labels == dict.fromkeys("pqrstuv", 0) | dict.fromkeys("wxyz1", 1) | dict.fromkeys("abc", 2)


def test_repeated_pairs_add_up_in_either_direction() -> None:
    parted = clique("abcd", 3) + clique("wxyz", 3) + [(a, b, 1) for a in "abcd" for b in "wxyz"]
    repeats = [(b, a, 1) for a, b, w in parted for _ in range(w)]
    assert groups(detect(*columns(repeats)).labels) == {frozenset("abcd"), frozenset("wxyz")}


@pytest.mark.parametrize("scale", [1, 2**31, 2**40, 2**56])
def test_weights_of_any_size_give_the_same_communities(scale: int) -> None:
    edges = clique("abcde", 2 * scale) + clique("vwxyz", 2 * scale) + [("a", "v", scale)]
    assert groups(detect(*columns(edges)).labels) == {frozenset("abcde"), frozenset("vwxyz")}


def test_repeats_whose_sum_passes_2_to_the_31_keep_their_weight() -> None:
    half = 2**30
    heavy = [edge for edge in clique("abcd", half) + clique("wxyz", half) for _ in range(4)]
    light = [(a, b, half) for a in "abcd" for b in "wxyz"]
    assert groups(detect(*columns(heavy + light)).labels) == {frozenset("abcd"), frozenset("wxyz")}


class TestEntities:
    def test_integers_of_any_kind_are_entities(self) -> None:
        for dtype in (np.int16, np.int32, np.int64, np.uint32, np.uint64):
            a, b = np.array([1, 2, 3], dtype), np.array([2, 3, 1], dtype)
            assert detect(a, b, np.ones(3, np.int64)).labels == {1: 0, 2: 0, 3: 0}

    def test_labels_have_python_integers_for_keys(self) -> None:
        labels = detect(np.array([1]), np.array([2]), np.array([1])).labels
        assert {type(entity) for entity in labels} == {int}

    @pytest.mark.parametrize(
        "extreme", [-1, -(2**63), 2**63 - 1, 2**63, 2**64 - 1, 2**80, -(2**80)], ids=lambda n: f"{n:#x}"
    )
    def test_extreme_integers_are_kept_apart(self, extreme: int) -> None:
        assert detect([extreme, 5], [5, 7], [1, 1]).labels == {extreme: 0, 5: 0, 7: 0}

    def test_minus_one_and_the_largest_unsigned_number_are_two_entities(self) -> None:
        found = detect(np.array([-1]), np.array([2**64 - 1], np.uint64), [1])
        assert found.labels == {-1: 0, 2**64 - 1: 0}

    def test_a_number_and_its_text_are_two_entities(self) -> None:
        assert detect([1], ["1"], [1]).labels == {1: 0, "1": 0}

    def test_arrays_of_names_are_read_like_lists(self) -> None:
        for dtype in ("U8", object):
            a, b = np.array(["x", "y"], dtype), np.array(["y", "é 東京"], dtype)
            assert detect(a, b, [1, 1]).labels == {"x": 0, "y": 0, "é 東京": 0}

    def test_a_lone_surrogate_is_a_name_like_another(self) -> None:
        assert detect(["\ud800"], ["\udfff"], [1]).labels == dict.fromkeys(["\ud800", "\udfff"], 0)


class TestBadInput:
    @pytest.mark.parametrize("wrong", [1.5, None, True, b"x", ("x",)])
    @pytest.mark.parametrize("field", ["sources", "targets"])
    def test_an_entity_of_another_type_is_refused(self, field: str, wrong: object) -> None:
        ends = {"sources": ["a", "b"], "targets": ["c", "d"], field: ["a", wrong]}
        with pytest.raises(ValueError, match=rf"^{field}: .*\(row 1\)"):
            detect(weights=[1, 1], **ends)

    @pytest.mark.parametrize(
        "weights",
        [[-1, 2], [1.5, 1], [float("nan"), 1], [float("inf"), 1], ["1", "2"], [2**62, 1], [2**70, 1], [None, 1],
         [True, False], [[1], [2]]],
        ids=str,
    )  # fmt: skip
    def test_weights_that_are_negative_not_whole_or_too_large_are_refused(self, weights: list) -> None:
        with pytest.raises(ValueError, match=r"^weights: "):
            detect(["a", "b"], ["b", "c"], weights)

    @pytest.mark.parametrize("lengths", [(2, 3, 3), (3, 2, 3), (3, 3, 2), (3, 3, 0)])
    def test_columns_of_unequal_length_are_refused(self, lengths: tuple[int, int, int]) -> None:
        a, b, w = lengths
        for make in (list, np.array):
            with pytest.raises(ValueError, match="differ in length"):
                detect(make(range(a)), make(range(b)), make([1] * w))

    def test_columns_of_two_dimensions_are_refused(self) -> None:
        square = np.ones((2, 2), np.int64)
        with pytest.raises(ValueError, match=r"^sources: "):
            detect(square, square, square)

    @pytest.mark.parametrize("option", ["hub_drop_fraction", "hub_drop_max", "giant_share"])
    @pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
    def test_an_option_outside_0_to_1_is_refused(self, option: str, value: float) -> None:
        with pytest.raises(ValueError, match=f"^{option}: "):
            detect(["a"], ["b"], [1], **{option: value})

    def test_floats_that_are_whole_numbers_will_do(self) -> None:
        assert detect(["a"], ["b"], np.array([2.0])).labels == {"a": 0, "b": 0}


def test_the_core_imports_without_the_numeric_libraries() -> None:
    check = "import loom_core, sys; sys.exit(bool({'numpy', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0
