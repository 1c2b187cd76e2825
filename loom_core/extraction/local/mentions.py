"""Mentions: which spans of a parsed block are worth a node.

Identifiers by rule, then the model's named spans (its labels are poor on technical text, so only what they say
of numbers and dates is believed), proper-noun phrases, and common-noun compounds ("billing service"). A bare
common noun ("cases", "bit") names nothing in particular and is left to be one end of a relation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loom_core.extraction.local import identifiers
from loom_core.extraction.local.phrases import trimmed
from loom_core.extraction.results import Entity

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

_QUANTITIES = frozenset({"DATE", "TIME", "CARDINAL", "ORDINAL", "PERCENT", "MONEY", "QUANTITY"})
_TYPES = {"PERSON": "person", "ORG": "organization", "GPE": "location", "LOC": "location", "FAC": "location"}


def mentions(doc: Doc) -> Iterator[tuple[int, Entity]]:
    """(offset in the block, entity), in no particular order; a name may come more than once."""
    for token in doc:
        kind = identifiers.kind_of(token.text)
        if kind is not None and kind != "version":
            yield token.idx, Entity(token.text, kind, 0.9)
    for ent in doc.ents:
        if ent.label_ not in _QUANTITIES:
            span = trimmed(doc, ent.start, ent.end)
            if _names_something(span):
                yield span.start_char, Entity(span.text, _TYPES.get(ent.label_), 0.7)
    for chunk in doc.noun_chunks:
        span = trimmed(doc, chunk.start, chunk.end)
        if not _names_something(span):
            continue
        if chunk.root.pos_ == "PROPN":
            yield span.start_char, Entity(span.text, None, 0.6)
        elif chunk.root.pos_ == "NOUN":
            compound = _compound(span)
            if compound is not None:
                yield compound.start_char, Entity(compound.text, None, 0.5)


def _names_something(span: Span) -> bool:
    return (
        bool(span)
        and any(t.pos_ in {"PROPN", "NOUN", "X", "ADJ"} for t in span)
        and any(c.isalpha() for c in span.text)
    )


def _compound(span: Span) -> Span | None:
    """The run of nouns that ends a phrase, if it is longer than its head."""
    start = span.end - 1
    while start > span.start and span.doc[start - 1].dep_ == "compound":
        start -= 1
    return span.doc[start : span.end] if start < span.end - 1 else None
