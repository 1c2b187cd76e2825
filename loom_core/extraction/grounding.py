"""What a text supports: a name is kept only if it stands in the text.

A model invents (13 of 25 pairs of a small one were not in the text), and a planted instruction asks it to;
what does not stand there is dropped. D24 calls a triple `extracted` by the same test.
"""

from __future__ import annotations

import re
import unicodedata

from loom_core.canonical import canonicalise, surface_forms
from loom_core.extraction.persons import USER, Role, user_words

_LATEX = {"\f": "\\f", "\b": "\\b", "\t": "\\t", "\r": "\\r", "\n": "\\n"}
_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "`": None, "*": None})


class Ground:
    """One text, folded once, to hold names against."""

    def __init__(self, text: str, role: Role = None) -> None:
        self._text = _folded(text)
        self._user_words = user_words(role)
        self._user = not self._user_words.isdisjoint(re.findall(r"[a-z]+", self._text))

    def spelling(self, name: str) -> str | None:
        """The name as it may be kept, or None where the text does not hold it.

        A name counts as held in its own words, in those of its canonical form, or in a plural of it. A lone
        `\\f` in a JSON answer arrives as a form feed: such a name is tried with the backslash put back.
        """
        for spelling in (" ".join(name.split()), "".join(_LATEX.get(c, c) for c in name)):
            if spelling and self._holds(spelling):
                return spelling
        return None

    def _holds(self, name: str) -> bool:
        canonical = canonicalise(name)
        if canonical == USER:
            return self._user or self._has(USER)
        return self._has(_folded(name)) or (
            canonical is not None and any(self._has(_folded(form)) for form in surface_forms(canonical))
        )

    def position(self, name: str) -> int:
        """Where the name first stands, in characters of the folded text; its end where it does not."""
        if name == USER and self._user:
            return min(m.start() for m in re.finditer(r"[a-z]+", self._text) if m[0] in self._user_words)
        at = self._text.find(_folded(name))
        return at if at >= 0 else len(self._text)

    def _has(self, words: str) -> bool:
        """Whether the words stand in the text and are not the middle of longer ones."""
        if not words or words not in self._text:
            return False
        before = r"(?<!\w)" if words[0].isalnum() and words[0].isascii() else ""
        after = r"(?!\w)" if words[-1].isalnum() and words[-1].isascii() else ""
        return re.search(before + re.escape(words) + after, self._text) is not None


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).translate(_PLAIN).casefold().split())
