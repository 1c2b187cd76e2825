"""An assistant's turn that recites a stored memory is no new evidence for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from loom_core.extraction.outcomes import Source

_LEAST_WORDS = 3
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])(?=\s)|(?<=\n)")

# A memory says "I live in Berlin", the assistant "you live in Berlin": the same words of another person.
_SAME = {
    **dict.fromkeys(("i", "me", "you", "user", "myself", "yourself"), "user"),
    **dict.fromkeys(("my", "your", "mine", "yours", "user's"), "user's"),
    **dict.fromkeys(("am", "are", "is", "'m", "'re", "'s"), "is"),
    **dict.fromkeys(("was", "were"), "was"),
    **dict.fromkeys(("have", "has"), "has"),
}
_FILLERS = frozenset({"the", "a", "an", "that", "and", "so", "also", "currently", "now", "still"})


def without_recitals(source: Source) -> Source:
    """The source with the recited sentences of an assistant's turn taken out; any other as it is."""
    if source.role != "assistant" or not source.known_memories:
        return source
    return replace(source, text=novel_text(source.text, source.known_memories))


def novel_text(text: str, known: Iterable[str]) -> str:
    """The sentences of a text that say more than the known values do.

    A sentence goes if all it says stands in one known value, or if a known value stands whole in it and what
    is left is shorter than three words. Case, articles and the person ("I"/"you"/"the user") make no
    difference.
    """
    values = [_folded(value) for value in known]
    values = [value for value in values if len(value.split()) >= _LEAST_WORDS]
    sentences = _BETWEEN_SENTENCES.split(text)
    return "".join(s for s in sentences if not _recited(_folded(s), values))


def _recited(said: str, values: list[str]) -> bool:
    count = len(said.split())
    return count >= _LEAST_WORDS and any(
        said in value or (value in said and count - len(value.split()) < _LEAST_WORDS) for value in values
    )


def _folded(text: str) -> str:
    """The words that count, with a blank on either side of each, so that a part is found by `in`."""
    return f" {' '.join(_words(text))} "


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.casefold().replace("’", "'")):
        stem = word[:-1] if word.endswith("s") and len(word) > 3 and not word.endswith("ss") else word
        if word not in _FILLERS:
            yield _SAME.get(word) or _SAME.get(stem) or stem
