"""Which of the graph's entities a query names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from loom_core.canonical import canonicalise
from loom_core.facts.names import follow, known
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

MAX_WORDS = 200
WORDS_A_NAME = 6
MAX_ENTITIES = 16
"""Entities of a query that are looked around: what a question is about fits, and the search stays bounded."""
WORD = re.compile(r"\S+")
EDGES = '?!.,;()[]{}<>"“”„«»…'
UNSPACED = re.compile(r"[々〇ぁ-ヿ㐀-䶿一-鿿豈-﫿𠀀-𯿿]{2,}")
CHARS_A_NAME = 8
MAX_UNSPACED = 300


class Span(NamedTuple):
    """A stretch of the query that might be a name."""

    start: int
    end: int
    text: str


def named_entities(store: Store, scope: Scope, query: str) -> list[str]:
    """The entities that the query names, in its order: each run of up to six words that is a node's name.

    A name inside a longer one that is a node too is left out: of "billing service" not also "service".
    Aliases are followed. Where a script puts no blanks, runs of up to eight characters are tried.
    """
    places = list(spans(query))
    forms = {span: _forms(span.text) for span in places}
    ends = follow(store, scope, sorted({form for each in forms.values() for form in each}))
    there = known(store, scope, sorted(set(ends.values()))) if ends else set()
    named = {
        span: node
        for span, each in forms.items()
        if (node := next((ends[form] for form in each if ends[form] in there), None))
    }
    kept: list[Span] = []
    for span in sorted(named, key=lambda span: (span.start - span.end, span.start)):
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    nodes = dict.fromkeys(named[span] for span in sorted(kept))
    return list(nodes)[:MAX_ENTITIES]


def _forms(text: str) -> Sequence[str]:
    """The canonical form first, then the text as given, lowered (D17)."""
    form = canonicalise(text)
    return () if form is None else tuple(dict.fromkeys((form, text.lower())))


def spans(query: str) -> Iterator[Span]:
    """Every stretch of the query's beginning that might be a name."""
    words = []
    for match in list(WORD.finditer(query))[:MAX_WORDS]:
        core = match[0].strip(EDGES)
        if core:
            start = match.start() + match[0].index(core)
            words.append((start, start + len(core)))
    for first, (start, _) in enumerate(words):
        for _, end in words[first : first + WORDS_A_NAME]:
            yield Span(start, end, query[start:end])
    for match in UNSPACED.finditer(query[:MAX_UNSPACED]):
        for start in range(match.start(), match.end() - 1):
            for end in range(start + 2, min(match.end(), start + CHARS_A_NAME) + 1):
                yield Span(start, end, query[start:end])
