"""Whether a triple's ends stand in the text it was stated with (D24)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Literal

Provenance = Literal["extracted", "inferred", "facet"]

_FIRST_PERSON = re.compile(r"(?<!\w)(?:i(?!\.e\b)|me|my|mine|myself)(?!\w)")
"""What becomes `user` (D16); "i.e." is no person."""

_INITIAL = re.compile(r"\b\w|\W")
"""What a word or a sign begins with."""

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
"""Thai and Lao, kana, Han, Hangul: a name in these scripts need not stand apart from its neighbours."""


class Grounding:
    """A row's text, asked for several names.

    `surface_forms` gives the forms a canonical entity may take in a text; the entity itself is always one.
    """

    def __init__(self, text: str, surface_forms: Callable[[str], Iterable[str]]) -> None:
        self._text = _folded(text)
        self._surface_forms = surface_forms
        self._known: dict[str, bool] = {}
        self._initials = frozenset(_INITIAL.findall(self._text))

    def provenance(self, subject: str, object_: str) -> Provenance:
        """`extracted` when both ends occur in the text, else `inferred`."""
        return "extracted" if self.occurs(subject) and self.occurs(object_) else "inferred"

    def occurs(self, entity: str) -> bool:
        """Whether a form of `entity` stands in the text at word boundaries, whatever the case, after NFKC.

        `user` stands there as "user" or in the first person.
        """
        if entity not in self._known:
            self._known[entity] = (
                (entity == "user" and _FIRST_PERSON.search(self._text) is not None)
                or _stands_in(self._text, entity)
                or (
                    self._may_begin(entity)
                    and any(_stands_in(self._text, form) for form in self._surface_forms(entity))
                )
            )
        return self._known[entity]

    def _may_begin(self, entity: str) -> bool:
        """Whether some word begins like the name: its forms do, and most names need not be inflected to know."""
        first = entity[:1]
        return first in self._initials or _UNSPACED.match(first) is not None


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _stands_in(text: str, name: str) -> bool:
    form = _folded(name)
    at = text.find(form) if form else -1
    while at >= 0:
        end = at + len(form)
        if _parted(text[at - 1 : at], form[0]) and _parted(form[-1], text[end : end + 1]):
            return True
        at = text.find(form, at + 1)
    return False


def _parted(left: str, right: str) -> bool:
    """Whether a word ends between two neighbouring characters, one of them a name's; either may be absent."""
    return not (_in_word(left) and _in_word(right)) or _UNSPACED.search(left + right) is not None


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
