"""The words of a query, and the forms in which a row may have them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from loom_core.canonical import canonicalise, surface_forms

MAX_WORDS = 64
"""Of a longer query the first words count: it is a text, and its beginning says what it is about."""

_NAMING_NOTHING = """
a about all an and any are as at be been but by can did do does for from had has have how if in into is it its
may me my no not of on or our so than that the their them then there these they this those to up us was we
were what when where which who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_NAMING_NOTHING.split())
"""English words that name nothing: left out of a query unless it has no others."""


def word_forms(tokens: Sequence[str]) -> list[list[str]]:
    """For each word of a query the forms that count as that word: as written, singular and plural.

    `tokens`: the query as the index cuts it.
    """
    telling = [token for token in tokens if token not in STOP_WORDS] or list(tokens)
    return [_forms(token) for token in telling[:MAX_WORDS]]


def _forms(token: str) -> list[str]:
    singular = canonicalise(token) if token.isascii() and token.isalpha() else None
    if singular is None or not singular.isalpha():
        return [token]
    return list(dict.fromkeys((token, *(form for form in surface_forms(singular) if form.isalpha()))))
