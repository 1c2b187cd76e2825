"""The pairs of entities a memory makes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, islice

MAX_PAIRS = 100
"""Per memory: "Every pair of a memory's entities becomes one observation row, at most 100 pairs per
memory"."""


def pairs(entities: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of canonical `entities`, given in the order they were stated; each pair's lesser name first.

    A repeated entity counts at its first mention and never pairs with itself. Beyond `MAX_PAIRS` they are
    cut in the order (1,2), (1,3) … (1,n), (2,3) … (D19).
    """
    distinct = dict.fromkeys(entities)
    return [(a, b) if a < b else (b, a) for a, b in islice(combinations(distinct, 2), MAX_PAIRS)]
