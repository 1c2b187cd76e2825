"""Folding observations into one answer (D41), and intervals into fewer."""

from __future__ import annotations

from itertools import permutations

import pytest

from loom_core.graph.intervals import Interval, joined, stretch, unheld
from loom_core.graph.observations import Observation, fold


def observation(
    key: str,
    span: Interval,
    *,
    version: int = 1,
    confidence: float = 1.0,
    adapter: str = "caller",
    arrival: int = 0,
) -> Observation:
    return Observation(key, f"{key}.{version}", arrival, confidence, adapter, f"by {adapter}", span)


OPEN = Interval(10, None, None)


def test_what_does_not_hold_then_is_no_answer() -> None:
    assert fold([observation("k1", Interval(10, None, 20))], 20) is None
    assert fold([observation("k1", OPEN)], 9) is None
    assert fold([], 10) is None


def test_co_occur_counts_the_rows_that_hold_then() -> None:
    seen = [
        observation("k1", Interval(10, None, 20)),
        observation("k1", Interval(20, None, None), version=2),
        observation("k2", OPEN),
        observation("k3", Interval(10, 15, None)),
    ]
    counts = {at: answer.co_occur for at in (10, 14, 15, 20) if (answer := fold(seen, at))}
    assert counts == {10: 3, 14: 3, 15: 2, 20: 2}


def test_confidence_is_the_largest_and_its_adapter_answers_the_latest_of_equals() -> None:
    seen = [
        observation("k1", OPEN, confidence=0.4, adapter="late", arrival=9),
        observation("k2", OPEN, confidence=0.9, adapter="old", arrival=1),
        observation("k3", OPEN, confidence=0.9, adapter="new", arrival=2),
    ]
    for order in permutations(seen):
        answer = fold(order, 10)
        assert answer is not None
        assert (answer.confidence, answer.adapter_name, answer.provenance) == (0.9, "new", "by new")


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([Interval(5, None, None), Interval(3, 20, None)], (3, None, None)),
        ([Interval(5, 20, None), Interval(3, 30, None)], (3, 30, None)),
        ([Interval(5, None, 20), Interval(3, None, 30)], (3, None, 30)),
        # One row closes it, another bounds it: it is not open, though neither field is filled in both.
        ([Interval(5, None, 20), Interval(3, 30, None)], (3, 30, None)),
        ([Interval(5, 20, None), Interval(3, None, 30)], (3, None, 30)),
        # Of the spans that hold then only: the other began earlier and ends later.
        ([Interval(5, 20, None), Interval(12, None, None)], (5, 20, None)),
    ],
)
def test_an_answer_spans_from_the_first_start_to_the_last_end(
    spans: list[Interval], expected: tuple[int | None, ...]
) -> None:
    for order in permutations([observation(f"k{n}", span) for n, span in enumerate(spans)]):
        answer = fold(order, 10)
        assert answer is not None
        assert (answer.valid_from, answer.valid_to, answer.invalid_at) == expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([], ()),
        ([(1, None, 2), (2, None, 3)], ((1, None, 3),)),
        ([(1, None, 2), (3, None, 4)], ((1, None, 2), (3, None, 4))),
        ([(1, 9, None), (2, None, 3)], ((1, 9, None),)),
        ([(1, 5, None), (2, None, 5)], ((1, 5, None),)),
        ([(1, None, 5), (1, 9, 5)], ((1, None, 5),)),
        ([(1, 5, None), (5, None, None)], ((1, None, None),)),
    ],
)
def test_intervals_that_touch_are_one_and_end_as_the_last_of_them(
    parts: list[tuple[int, int | None, int | None]], expected: tuple[tuple[int, int | None, int | None], ...]
) -> None:
    for order in permutations(Interval(*part) for part in parts):
        assert tuple(map(tuple, joined(order))) == expected


@pytest.mark.parametrize(
    ("since", "until", "end", "expected"),
    [
        (1, 5, None, (1, None, 5)),
        (1, 5, 3, (1, 3, None)),
        (1, 5, 5, (1, 5, None)),
        (1, 5, 9, (1, 9, 5)),
        (5, 5, None, None),
        (5, 9, 5, None),
    ],
)
def test_only_being_cut_off_before_a_stated_end_is_an_invalidation(
    since: int, until: int, end: int | None, expected: tuple[int, int | None, int | None] | None
) -> None:
    found = stretch(since, until, end)
    assert (found and tuple(found)) == expected


def test_what_never_held_keeps_a_span_of_no_length() -> None:
    assert unheld(5, None) == (5, None, 5)
    assert unheld(5, 9) == (5, 9, 5)
    assert unheld(5, 3) == (5, 3, None)
    assert not any(unheld(5, end).holds_at(at) for end in (None, 9, 3) for at in range(12))
