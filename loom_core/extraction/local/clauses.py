"""Subject, relation, object from a dependency parse.

A passive is turned round by its agent; prepositional objects carry their preposition into the relation
(`depend_on`); conjuncts share subject and object; a verb's missing subject is looked for in the clause it
hangs on (xcomp, conj, adverbial and relative clauses).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loom_core.extraction.local import modality
from loom_core.extraction.local.modality import Stance
from loom_core.extraction.local.phrases import is_denied, is_listed, objects_of, with_conjuncts

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_DIRECT = frozenset({"dobj", "attr", "oprd", "dative"})
_ASIDE = frozenset({"(", ":", "-", "–", "—", "/"})
_RELATIVE = frozenset({"WDT", "WP"})


@dataclass(frozen=True, slots=True)
class Statement:
    """Head words of one statement. `carrier` is the word that says it, which dates attach to."""

    subject: Token
    words: tuple[str, ...]
    object: Token
    carrier: Token
    stance: Stance
    direct: bool = True


def statements(doc: Doc) -> Iterator[Statement]:
    """Every asserted statement of the block, in order of its carrier."""
    for token in doc:
        if token.pos_ in {"VERB", "AUX"} and token.dep_ not in {"aux", "auxpass"}:
            held = modality.stance(token)
            if held is not None:
                yield from _clause(token, held)
        elif token.dep_ == "poss" and token.pos_ == "PROPN":
            yield Statement(token, ("has",), token.head, token, Stance(), direct=False)
        elif token.dep_ == "prep" and token.lower_ == "in" and token.head.pos_ in {"NOUN", "PROPN"}:
            for place in objects_of(token):
                if place.pos_ == "PROPN":
                    yield Statement(token.head, ("is", "in"), place, token, Stance(), direct=False)
        elif token.dep_ == "appos" and _is_apposition(token):
            yield Statement(token.head, ("is",), token, token, Stance(), direct=False)


def _is_apposition(noun: Token) -> bool:
    """ "Anna, the owner of Kestrel", "my brother Tom": in a sentence with a verb, not a title's fragments,
    and not set off like an aside or an example."""
    before = noun.doc[max(0, noun.left_edge.i - 1)]
    return (
        before.text not in _ASIDE
        and not is_listed(noun)
        and noun.head.pos_ in {"NOUN", "PROPN"}
        and noun.sent.root.pos_ in {"VERB", "AUX"}
    )


def _clause(verb: Token, held: Stance) -> Iterator[Statement]:
    heads, direct = _subjects(verb)
    subjects = [s for head in heads for s in with_conjuncts(head) if not is_denied(s)]
    name = tuple(modality.words(verb))
    if "attr" in {c.dep_ for c in verb.rights}:
        yield from _attribute(verb, held)
    for words, head, by_agent in _objects(verb, name):
        for obj in with_conjuncts(head):
            for subject in subjects:
                if subject.i == obj.i or is_denied(obj):
                    continue
                ends = (obj, subject) if by_agent else (subject, obj)
                yield Statement(ends[0], words, ends[1], verb, held, direct)


def _attribute(verb: Token, held: Stance) -> Iterator[Statement]:
    """ "Kestrel's owner is Maria", "my employer is Acme", "the owner of Kestrel is Maria": (Kestrel, owner,
    Maria).
    """
    values = [c for c in verb.rights if c.dep_ == "attr" and c.pos_ == "PROPN"]
    for noun in (c for c in verb.lefts if c.dep_ == "nsubj" and c.pos_ == "NOUN"):
        owners = [c for c in noun.lefts if c.dep_ == "poss"]
        owners += [p for c in noun.rights if c.dep_ == "prep" and c.lower_ == "of" for p in objects_of(c)]
        compound = [c.lower_ for c in noun.lefts if c.dep_ == "compound"]
        for owner in owners:
            for value in (v for head in values for v in with_conjuncts(head)):
                yield Statement(owner, (*compound, noun.lower_), value, verb, held)


def _subjects(verb: Token) -> tuple[list[Token], bool]:
    """The verb's own subjects, else those of the clause it continues; and whether they are its own."""
    own = True
    for _ in range(8):
        found = [c for c in verb.lefts if c.dep_ in _SUBJECTS] or [
            c for c in verb.rights if c.dep_ in _SUBJECTS and verb.pos_ == "AUX"
        ]
        if found and found[0].tag_ in _RELATIVE and verb.dep_ == "relcl":
            return [verb.head], own
        if found:
            return found, own
        if verb.dep_ == "acl" and verb.head.pos_ in {"NOUN", "PROPN"}:
            return [verb.head], own and verb.tag_ != "VB"
        if verb.dep_ == "pcomp" and verb.head.head.pos_ in {"VERB", "AUX"}:
            verb, own = verb.head.head, False
        elif verb.dep_ in {"conj", "xcomp", "advcl"} and verb.head.pos_ in {"VERB", "AUX"}:
            verb, own = verb.head, own and verb.dep_ != "advcl"
        else:
            return [], own
    return [], own


def _objects(verb: Token, name: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Token, bool]]:
    """(relation's words, object, whether it is the doer of a passive) for what a verb governs."""
    for child in verb.children:
        if child.dep_ in _DIRECT and child.i > verb.i and child.pos_ != "ADP":
            yield name, child, False
            inner = (child.lower_,) if child.dep_ == "attr" else name
            yield from _prepositional(child, inner, also_of=child.dep_ == "attr")
        elif child.dep_ == "acomp" or (child.dep_ == "advmod" and child.i > verb.i):
            inner = (child.lower_,) if child.dep_ == "acomp" else name
            yield from _prepositional(child, inner, also_of=True)
        elif child.dep_ == "agent":
            yield from ((name, p, True) for p in objects_of(child))
    yield from _prepositional(verb, name, also_of=verb.pos_ != "AUX")
    if verb.dep_ == "relcl" and any(c.dep_ == "dobj" and c.tag_ in _RELATIVE for c in verb.lefts):
        yield name, verb.head, False


def _prepositional(
    word: Token, name: tuple[str, ...], *, also_of: bool
) -> Iterator[tuple[tuple[str, ...], Token, bool]]:
    """What hangs on a word by prepositions, "according to" and "in X and at Y" included."""
    for preposition in word.children:
        if preposition.dep_ not in {"prep", "dative"} or preposition.pos_ not in {"ADP", "SCONJ", "VERB"}:
            continue
        linked = [preposition, *(c for c in preposition.rights if c.dep_ == "conj" and c.pos_ == "ADP")]
        for link in linked:
            if link.lower_ == "without" or (link.lower_ == "of" and not also_of):
                continue
            yield from (((*name, link.lower_), p, False) for p in objects_of(link))
            for inner in link.rights:
                if inner.dep_ == "prep":
                    words = (*name, link.lower_, inner.lower_)
                    yield from ((words, p, False) for p in objects_of(inner))
