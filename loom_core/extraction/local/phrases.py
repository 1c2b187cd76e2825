"""Noun phrases of a parse as names: which words of a phrase a node is called by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loom_core.extraction.local.lexicon import word_list

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_OPENERS = frozenset(
    ["DET", "PRON", "PUNCT", "SPACE", "ADP", "CCONJ", "SCONJ", "AUX", "PART", "ADV", "INTJ", "SYM"]
)
_CLOSERS = frozenset(["PUNCT", "SPACE", "ADP", "CCONJ", "SCONJ", "DET", "PRON", "AUX", "SYM"])
VAGUE = word_list("vague_modifiers")
"""Adjectives and quantities that say how or how many, not which."""
_AMOUNTS = word_list("amount_nouns")
"""Nouns that only count or classify: "a lot of tests" is about tests."""
_HONORIFICS = frozenset(
    ["dr", "dr.", "mr", "mr.", "mrs", "mrs.", "ms", "ms.", "prof", "prof.", "sir", "madam"]
)
_MODIFIERS = frozenset(["compound", "amod", "nmod", "poss", "nummod", "quantmod", "det", "punct", "predet"])
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"))
_MOST_LISTED = 16
_NOUNS = frozenset({"NOUN", "PROPN", "PRON", "NUM", "X"})


def trimmed(doc: Doc, start: int, end: int) -> Span:
    """The span without articles, pronouns, quantities and punctuation at its ends; may be empty."""
    while start < end and (
        doc[start].pos_ in _OPENERS
        or doc[start].lower_ in VAGUE
        or (doc[start].like_num and end - start > 1 and doc[start].ent_type_ in {"", "CARDINAL", "ORDINAL"})
    ):
        start += 1
    while start < end and (doc[end - 1].pos_ in _CLOSERS or doc[end - 1].lower_ in {"'s", "’s"}):
        end -= 1
    return doc[start:end]


def is_whole(name: str) -> bool:
    """Whether every bracket and quotation mark of a name is closed: `disk('backups` is a fragment of code."""
    pairs = all(name.count(opening) == name.count(closing) for opening, closing in _BRACKETS)
    return pairs and name.count('"') % 2 == 0


def proper_name(span: Span) -> Span:
    """The name a phrase ends in: "pianist Jonathan Carroll" is Jonathan Carroll, "billing API" is itself."""
    if not span or not span[-1].is_title:
        return span
    common = [t.i for t in span if t.is_lower and t.is_alpha]
    if common:
        span = span.doc[common[-1] + 1 : span.end]
    return span[1:] if len(span) > 1 and span[0].lower_ in _HONORIFICS else span


def argument(token: Token, owner: Token | None = None, depth: int = 3) -> Span:
    """The phrase around a head noun, with its modifiers and an "of" phrase, as one end of a statement.

    `owner` is left out: of "Kestrel has Kestrel's logo" the second end is "logo". At most `depth` nested "of".
    """
    of = of_objects(token) if depth else []
    if of and token.lower_ in _AMOUNTS:
        return argument(of[0], depth=depth - 1)
    left, right = token.i, token.i + 1
    for child in token.lefts:
        if child.dep_ in _MODIFIERS and child != owner:
            left = min(left, child.left_edge.i)
    for child in token.rights:
        if child.dep_ in {"nummod", "compound", "npadvmod"} and child.i == right:
            right = child.right_edge.i + 1
    left, right = _with_name(token, left, right)
    if of:
        right = max(right, argument(of[0], depth=depth - 1).end)
    span = trimmed(token.doc, left, right)
    return proper_name(span) if token.pos_ == "PROPN" and not of else span


def _with_name(token: Token, left: int, right: int) -> tuple[int, int]:
    """The parser may cut a name that the name finder has whole."""
    for ent in token.doc[left:right].ents:
        if ent.start <= token.i < ent.end and ent.label_ not in {"DATE", "TIME", "CARDINAL", "ORDINAL"}:
            return min(left, ent.start), max(right, ent.end)
    return left, right


def objects_of(preposition: Token) -> list[Token]:
    """The nouns a preposition governs."""
    return [c for c in preposition.rights if c.dep_ == "pobj"]


def of_objects(noun: Token) -> list[Token]:
    """What a noun is "of"."""
    return [p for c in noun.rights if c.dep_ == "prep" and c.lower_ == "of" for p in objects_of(c)]


def with_conjuncts(token: Token) -> list[Token]:
    """The noun and the nouns coordinated with it ("Redis and Postgres"), at most 16: a list of a thousand names
    is no statement about each pair of them."""
    found = [token]
    for noun in found:
        if len(found) >= _MOST_LISTED:
            break
        found += [c for c in noun.rights if c.pos_ in _NOUNS and (c.dep_ == "conj" or is_listed(c))]
    return found[:_MOST_LISTED]


def is_listed(noun: Token) -> bool:
    """A parser may call the second of a list an apposition ("the worker, the scheduler and the exporter")."""
    return noun.dep_ == "appos" and any(c.dep_ == "conj" for c in noun.rights)


def is_denied(noun: Token) -> bool:
    """ "No tests", "without a key"."""
    return any(c.dep_ in {"det", "neg"} and c.lower_ in {"no", "not", "neither"} for c in noun.lefts)
