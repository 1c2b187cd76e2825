"""Numeric facts: what a sentence measures, and of what.

"The latency of checkout is 250 ms", "the pool has 40 connections and a timeout of 30 seconds", "the plan
costs $20 a month", "set the timeout to 30 s". A number whose owner the parse does not show is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from loom_core.canonical import canonicalise, normalise_relation
from loom_core.extraction.local import modality
from loom_core.extraction.local.antecedents import Antecedents
from loom_core.extraction.local.lexicon import word_list
from loom_core.extraction.local.measures import Measure
from loom_core.extraction.local.phrases import argument, is_whole, objects_of
from loom_core.extraction.persons import USER
from loom_core.extraction.results import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_STATES = word_list("state_verbs")
_OWNS = word_list("holding_verbs")
_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_CHANGES = frozenset({"to", "at", "by", "from"})
_MODIFIERS = frozenset({"amod", "nmod", "nummod"})


def quantities(
    doc: Doc, measures: Iterable[Measure], antecedents: Antecedents, date: datetime | None
) -> Iterator[Fact]:
    """The block's numeric facts. `date` is the start of the block's own date, if it has one."""
    for measure in measures:
        span = doc.char_span(measure.start, measure.end, alignment_mode="expand")
        if span is None:
            continue
        head = span.root
        if measure.unit is None and head.dep_ in {"nummod", "quantmod"} and head.head.pos_ == "NOUN":
            head = head.head
        found = _owner_and_attribute(head, measure.unit is None)
        if found is None:
            continue
        owner, attribute = found
        entity = USER if antecedents.is_user(owner) else _named(owner, antecedents)
        if entity is not None and attribute:
            yield Fact(entity, attribute, measure.value, measure.unit, date)


def _named(owner: Token, antecedents: Antecedents) -> str | None:
    noun = antecedents.of(owner)
    name = argument(noun).text if noun is not None else None
    return name if name and is_whole(name) and canonicalise(name) is not None else None


def _owner_and_attribute(head: Token, counted: bool) -> tuple[Token, str] | None:
    """Whose number it is and what it measures, from where the number's phrase hangs in the sentence."""
    parent = head.head
    if head.dep_ in {"nummod", "compound", "npadvmod"} and parent.pos_ == "NOUN":
        subject = _subject(_first(parent).head)
        return (subject or parent, _attribute(parent)) if not counted else None
    if head.dep_ == "pobj" and parent.lower_ == "of" and parent.head.pos_ == "NOUN":
        noun = parent.head
        return (_holder(noun) or _subject(_first(noun).head) or noun, _attribute(noun))
    if head.dep_ == "pobj" and parent.head.pos_ == "VERB":
        if parent.lower_ not in _CHANGES:
            return None
        governed = [c for c in parent.head.children if c.dep_ in {"dobj", *_SUBJECTS}]
        noun = next(iter(sorted(governed, key=lambda c: c.dep_ != "dobj")), None)
        return (_owner(noun) or noun, _attribute(noun)) if noun is not None else None
    verb = parent.head if head.dep_ == "conj" else parent
    subject = _subject(verb)
    if subject is None or modality.stance(verb) is None:
        return None
    if verb.lower_ in _STATES and not counted:
        return _owner(subject) or subject, _attribute(subject)
    if counted:
        return (subject, _attribute(head)) if not head.like_num else None
    of = [p for c in head.rights if c.dep_ == "prep" and c.lower_ == "of" for p in objects_of(c)]
    if verb.lower_ in _OWNS:
        return (subject, _attribute(of[0])) if of else None
    return subject, normalise_relation(verb.lower_)[0]


def _subject(verb: Token) -> Token | None:
    return next((c for c in verb.lefts if c.dep_ in _SUBJECTS), None)


def _first(noun: Token) -> Token:
    """The first of the nouns that a noun is listed with."""
    while noun.dep_ == "conj":
        noun = noun.head
    return noun


def _attribute(noun: Token) -> str:
    """What is measured, in lower_snake like a registered attribute: "p95_latency"."""
    modifiers = [c.lower_ for c in noun.lefts if c.dep_ in _MODIFIERS and not c.like_num]
    return "_".join([*modifiers, canonicalise(noun.lower_) or noun.lower_])


def _owner(noun: Token) -> Token | None:
    """ "The latency of checkout", "checkout's latency", "the checkout latency"."""
    of = [p for c in noun.rights if c.dep_ == "prep" and c.lower_ in {"of", "for"} for p in objects_of(c)]
    return of[0] if of else _holder(noun)


def _holder(noun: Token) -> Token | None:
    held = [c for c in noun.lefts if c.dep_ == "poss"] or [c for c in noun.lefts if c.dep_ == "compound"]
    return held[-1] if held else None
