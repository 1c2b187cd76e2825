"""Which of many like cases `make test` runs; `make test-nightly` runs them all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar

import pytest
from _pytest.mark.structures import ParameterSet

T = TypeVar("T")


def briefly(cases: Iterable[T], short: Collection[T]) -> Iterator[ParameterSet]:
    """All the cases, as parameters; those not in `short` are marked for the nightly form."""
    for case in cases:
        yield pytest.param(case, marks=() if case in short else pytest.mark.nightly)
