"""Subject, verb, object from a dependency parse.

A passive is turned round by its agent; prepositional objects carry their preposition into the relation
(`depend_on`); conjuncts share subject and object; a verb's missing subject is looked for in the clause it hangs
on (xcomp, conj, relative clause). What is denied, asked or only supposed states nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loom_core.extraction.local.phrases import with_conjuncts

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_OBJECTS = frozenset({"dobj", "attr", "oprd", "dative"})


@dataclass(frozen=True, slots=True)
class Statement:
    """Tokens of one statement: subject, the verb that carries it, its preposition or None, object."""

    subject: Token
    verb: Token
    preposition: Token | None
    object: Token
    past: bool
    confidence: float


def statements(doc: Doc) -> Iterator[Statement]:
    """Every asserted clause of the block, in order."""
    for verb in doc:
        if verb.pos_ in {"VERB", "AUX"} and verb.dep_ not in {"aux", "auxpass"} and not _unasserted(verb):
            yield from _clause(verb)


def _clause(verb: Token) -> Iterator[Statement]:
    passive = any(c.dep_ in {"auxpass", "nsubjpass"} for c in verb.children) or (
        verb.dep_ == "acl" and verb.tag_ == "VBN"
    )
    subjects = [s for head in _subjects(verb) for s in with_conjuncts(head)]
    past = _past(verb, passive)
    for preposition, head in _objects(verb):
        agent = preposition is not None and preposition.dep_ == "agent"
        for subject in subjects:
            for obj in with_conjuncts(head):
                if subject.i == obj.i:
                    continue
                if agent:
                    yield Statement(obj, verb, None, subject, past, 0.6)
                else:
                    yield Statement(
                        subject, verb, preposition, obj, past, 0.6 if preposition is None else 0.5
                    )


def _subjects(verb: Token) -> list[Token]:
    """The verb's own subjects, else those of the clause it continues."""
    seen = set()
    while verb.i not in seen:
        seen.add(verb.i)
        own = [c for c in verb.lefts if c.dep_ in _SUBJECTS]
        if own:
            if own[0].tag_ in {"WDT", "WP"} and verb.dep_ == "relcl":
                return [verb.head]
            return own
        if verb.dep_ in {"conj", "xcomp"} and verb.head.pos_ in {"VERB", "AUX"}:
            verb = verb.head
        elif verb.dep_ in {"acl"} and verb.head.pos_ in {"NOUN", "PROPN"}:
            return [verb.head]
        else:
            return []
    return []


def _objects(verb: Token) -> Iterator[tuple[Token | None, Token]]:
    for child in verb.rights:
        if child.dep_ in _OBJECTS:
            yield None, child
            for nested in child.rights:
                if nested.dep_ == "prep" and nested.lower_ != "of":
                    yield from ((nested, p) for p in nested.rights if p.dep_ == "pobj")
        elif child.dep_ in {"prep", "agent"}:
            yield from ((child, p) for p in child.rights if p.dep_ == "pobj")


def _unasserted(verb: Token) -> bool:
    if any(
        c.dep_ == "neg" or (c.dep_ == "mark" and c.lower_ in {"if", "unless", "whether"})
        for c in verb.children
    ):
        return True
    last = verb.sent[-1]
    return last.text == "?"


def _past(verb: Token, passive: bool) -> bool:
    if passive:
        return False
    auxiliaries = {c.lower_ for c in verb.children if c.dep_ == "aux"}
    return verb.tag_ == "VBD" and not auxiliaries
