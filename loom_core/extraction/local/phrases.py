"""Noun phrases of a parse as names: which words of a phrase a node is called by."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_OPENERS = frozenset(
    {"DET", "PRON", "PUNCT", "SPACE", "ADP", "CCONJ", "SCONJ", "AUX", "PART", "ADV", "INTJ", "SYM"}
)
_CLOSERS = frozenset({"PUNCT", "SPACE", "ADP", "CCONJ", "SCONJ", "DET", "PRON", "AUX", "SYM"})
_QUANTIFIERS = frozenset(
    [
        "all",
        "another",
        "any",
        "both",
        "certain",
        "different",
        "each",
        "either",
        "enough",
        "every",
        "few",
        "fewer",
        "further",
        "half",
        "less",
        "many",
        "more",
        "most",
        "much",
        "multiple",
        "neither",
        "no",
        "numerous",
        "other",
        "others",
        "own",
        "same",
        "several",
        "similar",
        "some",
        "such",
        "various",
        "whole",
    ]
)


def trimmed(doc: Doc, start: int, end: int) -> Span:
    """The span without articles, pronouns, quantities and punctuation at its ends; may be empty."""
    while start < end and (
        doc[start].pos_ in _OPENERS
        or doc[start].lower_ in _QUANTIFIERS
        or (doc[start].like_num and end - start > 1)
    ):
        start += 1
    while start < end and (doc[end - 1].pos_ in _CLOSERS or doc[end - 1].lower_ in {"'s", "’s"}):
        end -= 1
    return doc[start:end]


def argument(token: Token) -> Span:
    """The phrase around a head noun, with its modifiers and an "of" phrase, as one end of a statement."""
    left = token.i
    for child in token.lefts:
        if child.dep_ in {"compound", "amod", "nmod", "poss", "nummod", "quantmod", "det", "punct", "predet"}:
            left = min(left, child.left_edge.i)
    right = token.i + 1
    for child in token.rights:
        if child.dep_ == "prep" and child.lower_ == "of" and (pobj := _object(child)) is not None:
            right = max(right, argument(pobj).end)
        elif child.dep_ in {"nummod", "compound", "npadvmod"} and child.i == right:
            right = child.right_edge.i + 1
    return trimmed(token.doc, left, right)


def _object(preposition: Token) -> Token | None:
    return next((c for c in preposition.rights if c.dep_ == "pobj"), None)


def with_conjuncts(token: Token) -> list[Token]:
    """The noun and the nouns coordinated with it ("Redis and Postgres")."""
    found = [token]
    for noun in found:
        found += [
            c for c in noun.rights if c.dep_ == "conj" and c.pos_ in {"NOUN", "PROPN", "PRON", "NUM", "X"}
        ]
    return found
