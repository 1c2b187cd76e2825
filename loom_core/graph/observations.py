"""Folding a triple's or a pair's observations into one answer (D41)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from loom_core.graph.intervals import Interval


class Observation(NamedTuple):
    """One span of one row version's statement of a triple. Instants in UTC microseconds."""

    memory_key: str
    memory_id: str
    arrival: int
    confidence: float
    adapter_name: str
    provenance: str
    span: Interval


class Answer(NamedTuple):
    """What a read says of a triple at an instant."""

    co_occur: int
    confidence: float
    adapter_name: str
    provenance: str
    valid_from: int
    valid_to: int | None
    invalid_at: int | None


def fold(observations: Iterable[Observation], at: int) -> Answer | None:
    """The answer at the instant `at`; None where no observation holds then.

    `co_occur` counts source keys, of which each has one live version; "`confidence` = the largest;
    `adapter_name` and `provenance` those of the most confident, then latest; `valid_from` = the earliest
    start among the spans that hold; `valid_to`, `invalid_at` = null if any is open, else the latest", that
    is, those of the span that ends last: a triple that one row closes and another bounds is not open.
    """
    holding = [each for each in observations if each.span.holds_at(at)]
    if not holding:
        return None
    best = max(holding, key=lambda each: (each.confidence, each.arrival, each.memory_id))
    last = max((each.span for each in holding), key=Interval.finality)
    return Answer(
        len({each.memory_key for each in holding}),
        best.confidence,
        best.adapter_name,
        best.provenance,
        min(each.span.valid_from for each in holding),
        last.valid_to,
        last.invalid_at,
    )
