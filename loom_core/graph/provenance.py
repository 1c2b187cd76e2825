"""Whether a triple's ends stand in the text it was stated with (D24)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Literal

Provenance = Literal["extracted", "inferred", "facet"]

FIRST_PERSON = r"i(?!\.e\b)|me|my|mine|myself"
"""What becomes `user` (D16); "i.e." is no person."""

_UNSPACED = re.compile(r"[぀-ヿ㐀-䶿一-鿿豈-﫿가-힣\u0e00-\u0e7f]")
"""Kana, Han, Hangul, Thai: a name in these scripts need not stand apart from its neighbours."""


class Grounding:
    """A row's text, asked for several names.

    `surface_forms` gives the forms a canonical entity may take in a text; the entity itself is always one.
    """

    def __init__(self, text: str, surface_forms: Callable[[str], Iterable[str]]) -> None:
        self._text = _folded(text)
        self._surface_forms = surface_forms
        self._known: dict[str, bool] = {}

    def provenance(self, subject: str, object_: str) -> Provenance:
        """`extracted` when both ends occur in the text, else `inferred`."""
        return "extracted" if self.occurs(subject) and self.occurs(object_) else "inferred"

    def occurs(self, entity: str) -> bool:
        """Whether a form of `entity` stands in the text at word boundaries, whatever the case, after NFKC.

        `user` stands there as "user" or in the first person.
        """
        if entity not in self._known:
            forms = dict.fromkeys((entity, *self._surface_forms(entity)))
            patterns = [_pattern(form) for form in map(_folded, forms) if form]
            if entity == "user":
                patterns.append(rf"(?<!\w)(?:{FIRST_PERSON})(?!\w)")
            self._known[entity] = any(re.search(pattern, self._text) for pattern in patterns)
        return self._known[entity]


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _pattern(form: str) -> str:
    before = "" if _UNSPACED.match(form[0]) else r"(?<!\w)"
    after = "" if _UNSPACED.match(form[-1]) else r"(?!\w)"
    return f"{before}{re.escape(form)}{after}"
