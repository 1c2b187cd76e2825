"""Numbers with units in running text: "250 ms", "$20 a month", "1.5 million rows". Units by pint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pint import UnitRegistry

_CURRENCIES = {
    "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "usd": "USD", "eur": "EUR", "gbp": "GBP",
    "dollar": "USD", "euro": "EUR",
}  # fmt: skip
_MAGNITUDES = {"k": 1e3, "thousand": 1e3, "million": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9}
_SYMBOLS = {
    "%": "percent", "ms": "millisecond", "s": "second", "sec": "second", "secs": "second",
    "us": "microsecond", "µs": "microsecond", "ns": "nanosecond", "min": "minute", "mins": "minute",
    "h": "hour", "hr": "hour", "hrs": "hour",
    "kb": "kilobyte", "mb": "megabyte", "gb": "gigabyte", "tb": "terabyte", "kib": "kibibyte",
    "mib": "mebibyte", "gib": "gibibyte", "km": "kilometer", "cm": "centimeter", "mm": "millimeter",
    "kg": "kilogram", "mg": "milligram", "lb": "pound", "lbs": "pound", "hz": "hertz", "khz": "kilohertz",
    "mhz": "megahertz", "ghz": "gigahertz", "kw": "kilowatt", "mw": "megawatt", "kwh": "kilowatt_hour",
    "°c": "degree_Celsius", "°f": "degree_Fahrenheit",
}  # fmt: skip
"""Symbols as people type them: nobody's "mb" is a millibit, which is what pint would read."""
_DIMENSIONS = ("[time]", "[length]", "[mass]", "[temperature]", "[power]", "[energy]", "[electric_potential]",
               "[volume]", "[frequency]", "[speed]")  # fmt: skip
_WORDS_FIRST = frozenset(
    ["chain", "count", "cycle", "dot", "drop", "hand", "link", "point", "rod", "slug", "stone", "turn"]
)
"""Unit names that mostly mean something else."""

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_FINDER = re.compile(
    rf"(?<![\w.,:/#-])(?P<sign>[$€£¥])?\s?(?P<number>{_NUMBER})(?![.,:/-]?\d)"
    r"(?:\s?(?P<scale>k|thousand|million|mn|billion|bn)\b)?"
    r"(?:[\s-]?(?P<unit>%|°[CF]|µs|(?!(?:an?|per)\b)[A-Za-z]+))?(?:\s?(?:/|\bper\s|\ban?\s)\s?(?P<per>[a-z]+)\b)?",
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A number at [start, end) of its text. `unit` is a pint name or a currency, None for a bare count."""

    start: int
    end: int
    value: float
    unit: str | None


def measures(text: str) -> Iterator[Measure]:
    """The text's numbers, from left to right. A word after a number that is no unit is not part of it."""
    for match in _FINDER.finditer(text):
        value = float(match["number"].replace(",", "")) * _MAGNITUDES.get(match["scale"] or "", 1.0)
        unit = _CURRENCIES.get(match["sign"] or "") or (unit_name(match["unit"]) if match["unit"] else None)
        per = unit_name(match["per"]) if match["per"] else None
        if unit and per:
            end, unit = match.end(), f"{unit}/{per}"
        elif unit:
            end = (
                match.end("unit") if not match["sign"] else match.end("scale" if match["scale"] else "number")
            )
        else:
            end = match.end("scale" if match["scale"] else "number")
        yield Measure(match.start(), end, value, unit)


@lru_cache(maxsize=4096)
def unit_name(word: str) -> str | None:
    """The name pint gives a unit ("secs" is `second`), a currency's code, or None for another word."""
    key = word.casefold()
    singular = key.removesuffix("s")
    if currency := _CURRENCIES.get(key) or _CURRENCIES.get(singular):
        return currency
    if symbol := _SYMBOLS.get(key):
        return symbol
    if len(singular) < 3 or singular in _WORDS_FIRST:
        return None
    try:
        unit = _registry().Unit(key)
    except Exception:
        # pint raises its own errors for unknown words, and tokenizer and syntax errors for odd ones.
        return None
    if str(unit) in {"bit", "byte", "percent"} or str(unit).endswith(("byte", "bit")):
        return str(unit)
    return str(unit) if any(unit.is_compatible_with(_of(d)) for d in _DIMENSIONS) else None


@cache
def _of(dimension: str) -> str:
    return str(_registry().get_base_units(next(iter(_registry().get_compatible_units(dimension))))[1])


@cache
def _registry() -> UnitRegistry:
    from pint import UnitRegistry

    return UnitRegistry()
