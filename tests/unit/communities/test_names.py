"""Hashes of names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_core.communities import HashCollision, hash_names
from loom_core.communities.columns import _hash_by_dictionary
from loom_core.communities.names import Integers, hash_entities


@pytest.mark.parametrize(
    ("name", "seed", "hashed"),
    [("abc", 0, 10376663631224000432), ("东京", 0, 5595433939685550749), ("abc", 1, 3846343272300902118)],
)
def test_a_name_is_hashed_as_clickhouse_hashes_it(name: str, seed: int, hashed: int) -> None:
    """SELECT halfMD5('abc'), halfMD5('东京'), halfMD5('1:abc')."""
    assert hash_names([name], seed).tolist() == [hashed]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True))
def test_integers_have_hashes_of_their_own_and_are_found_again(numbers: list[int]) -> None:
    array = np.array(numbers, np.int64)
    hashes, names = Integers.hash(array), Integers(np.dtype(np.int64))
    assert len(np.unique(hashes)) == len(numbers)
    assert names.of(hashes) == numbers
    assert [numbers[k] for k in names.order(hashes)] == sorted(numbers)


def test_names_that_share_a_hash_are_hashed_again_with_another_seed() -> None:
    seeds = []

    def colliding(entities: list[str], seed: int) -> np.ndarray:
        seeds.append(seed)
        hashes = hash_entities(entities, seed)
        return hashes if seed == 2 else hashes & np.uint64(1)

    a, b, names = _hash_by_dictionary(["x", "y"], ["y", "z"], colliding)
    assert seeds == [0, 1, 2]
    assert names.of(a) == ["x", "y"] and names.of(b) == ["y", "z"]


def test_names_that_no_seed_tells_apart_are_refused() -> None:
    with pytest.raises(HashCollision, match="sources and targets"):
        _hash_by_dictionary(["x"], ["y"], lambda entities, seed: np.zeros(len(entities), np.uint64))


def test_integers_sort_before_names_and_by_value() -> None:
    entities = ["b", 10, "a", 9, -1]
    a, _, names = _hash_by_dictionary(entities, [])
    assert [entities[k] for k in names.order(a)] == [-1, 9, 10, "a", "b"]
