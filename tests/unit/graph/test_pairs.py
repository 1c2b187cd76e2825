"""Which pairs a memory makes (D19)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loom_core.graph.pairs import pairs


def test_every_two_entities_make_a_pair_with_the_lesser_name_first() -> None:
    assert pairs(["gamma", "alpha", "beta"]) == [("alpha", "gamma"), ("beta", "gamma"), ("alpha", "beta")]


def test_an_entity_named_twice_makes_no_pair_with_itself_and_counts_at_its_first_mention() -> None:
    assert pairs(["billing service", "billing service"]) == []
    assert pairs(["beta", "alpha", "beta"]) == [("alpha", "beta")]
    assert pairs([]) == pairs(["alpha"]) == []


def test_beyond_a_hundred_pairs_they_are_cut_in_the_order_they_were_stated() -> None:
    names = [f"e{n:02}" for n in range(30)]
    made = pairs(names)
    assert len(made) == 100
    # (1,2) … (1,30), (2,3) … (2,30), (3,4) … (3,30): 29 + 28 + 27 pairs, then 16 of the fourth.
    assert made[28] == ("e00", "e29")
    assert made[29] == ("e01", "e02")
    assert made[-1] == ("e03", "e19")


def test_the_cut_follows_the_order_stated_not_the_alphabet() -> None:
    names = [f"e{n:02}" for n in range(30)][::-1]
    assert pairs(names)[0] == ("e28", "e29")
    assert ("e00", "e01") not in pairs(names)


@given(st.lists(st.text(min_size=1, max_size=2), max_size=40))
def test_pairs_are_distinct_ordered_and_as_many_as_there_can_be(names: list[str]) -> None:
    made, distinct = pairs(names), len(set(names))
    assert len(made) == len(set(made)) == min(100, distinct * (distinct - 1) // 2)
    assert all(a < b for a, b in made)
