"""Mentions: which spans of a parsed block are worth a node.

Identifiers by rule, then the model's named spans (its labels are poor on technical text, so only what they
say of numbers and dates is believed), proper-noun phrases, common-noun compounds ("billing service") and
words the model's own vocabulary lacks, which are terms of art ("webhook", "redis"). A plain common noun
("cases", "bit") names nothing in particular and is left to be one end of a relation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from loom_core.extraction.local import identifiers
from loom_core.extraction.local.phrases import VAGUE, is_whole, proper_name, trimmed
from loom_core.extraction.local.titles import is_change_verb
from loom_core.extraction.results import Entity

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

Mention = tuple[int, Entity]
"""An entity and its offset in the block, in characters."""

_QUANTITIES = frozenset(["DATE", "TIME", "CARDINAL", "ORDINAL", "PERCENT", "MONEY", "QUANTITY"])
_TYPES = {"PERSON": "person", "ORG": "organization", "GPE": "location", "LOC": "location", "FAC": "location"}
_NAMING = frozenset({"PROPN", "NOUN", "X", "ADJ"})
_LEAST_LETTERS = 4
_MOST_WORDS = 3


def mentions(doc: Doc, vocabulary: Collection[str], closed: Collection[int]) -> Iterator[Mention]:
    """The block's mentions in no particular order; a name may come more than once.

    `vocabulary`: the words the model was made with. `closed`: indices of tokens in dates and measures.
    """
    spans = [(s, e) for s, e in _spans(doc) if not all(t.i in closed for t in s)]
    covered = {token.i for span, _ in spans for token in span}
    for token in doc:
        kind = identifiers.kind_of(token.text) if token.i not in closed else None
        if kind is not None and kind != "version":
            yield token.idx, Entity(token.text, kind, 0.9)
        elif token.i not in closed and token.i not in covered and _is_term(token, vocabulary):
            yield token.idx, Entity(token.text, None, 0.4)
    yield from ((span.start_char, entity) for span, entity in spans)


def named_end(name: str) -> bool:
    """Whether one end of a statement is specific enough for a node of its own: "primary database"."""
    words = name.casefold().split()
    return 2 <= len(words) <= _MOST_WORDS and "of" not in words and words[0] not in VAGUE and "'" not in name


def _spans(doc: Doc) -> Iterator[tuple[Span, Entity]]:
    for ent in doc.ents:
        if ent.label_ not in _QUANTITIES:
            span = trimmed(doc, ent.start, ent.end)
            if _names_something(span):
                yield span, Entity(span.text, _type_of(ent), 0.7)
    for chunk in doc.noun_chunks:
        span = trimmed(doc, chunk.start, chunk.end)
        if chunk.root.pos_ == "PROPN":
            span = proper_name(span)
        if not _names_something(span):
            continue
        if chunk.root.pos_ == "PROPN":
            yield span, Entity(span.text, None, 0.6)
        elif chunk.root.pos_ == "NOUN":
            compound = _compound(span)
            if compound is not None:
                yield compound, Entity(compound.text, None, 0.5)


def _type_of(ent: Span) -> str | None:
    """What the model takes a name for; a person only where it is written as people are: not `JSON`, not `redis`."""
    if ent.label_ == "PERSON" and not ent.text.istitle() and len(ent) == 1:
        return None
    return _TYPES.get(ent.label_)


def _names_something(span: Span) -> bool:
    if not span or (len(span) == 1 and is_change_verb(span.text)):
        return False
    text = span.text
    return is_whole(text) and any(t.pos_ in _NAMING for t in span) and any(map(str.isalpha, text))


def _is_term(token: Token, vocabulary: Collection[str]) -> bool:
    return (
        token.pos_ in {"NOUN", "PROPN"}
        and token.is_alpha
        and len(token) >= _LEAST_LETTERS
        and token.text not in vocabulary
        and token.lower_ not in vocabulary
        and not is_change_verb(token.text)
    )


def _compound(span: Span) -> Span | None:
    """The run of nouns that ends a phrase, hyphened words whole, if it is longer than its head."""
    start = span.end - 1
    while start > span.start and (_joined(span.doc[start - 1]) or _modifies(span.doc[start - 1])):
        start -= 1
    return span.doc[start : span.end] if start < span.end - 1 else None


def _joined(token: Token) -> bool:
    """Whether the token and the next are parts of one hyphened word."""
    following = token.nbor()
    return not token.whitespace_ and "-" in (token.text, following.text)


def _modifies(token: Token) -> bool:
    return bool(token.dep_ == "compound" and token.text[0].isalnum())
