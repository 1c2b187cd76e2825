"""Dates in running text: where they stand, and which instants they mean."""

from loom_core.extraction.dates.expressions import Expression, expressions
from loom_core.extraction.dates.points import Lean, Period, resolve

__all__ = ["Expression", "Lean", "Period", "expressions", "resolve"]
