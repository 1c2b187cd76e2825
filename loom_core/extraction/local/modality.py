"""Whether a verb asserts, and when: what is denied, asked or ordered states nothing.

What may, might or should be is stated as that: the auxiliary stays in the relation ("might_use"), so it is no
statement of what is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from loom_core.extraction.local.lexicon import word_list

if TYPE_CHECKING:
    from spacy.tokens import Token

_MODAL = frozenset({"could", "may", "might", "would", "should", "must", "shall"})
_CONDITION = frozenset({"if", "unless", "whether", "lest"})
_SCARCELY = frozenset({"hardly", "barely", "scarcely", "neither", "nor", "almost", "nearly"})
_FORMERLY = frozenset({"formerly", "previously", "once", "originally", "earlier", "ex"})
_ENDING = frozenset({"stop", "stops", "stopped", "quit", "cease", "ceases", "ceased"})
_PARTICLES = frozenset(["back", "up", "out", "down", "off", "over", "away", "in", "on"])
_MOST_LINKS = 6
"""Verbs hung on one another that are followed; a sentence that has more is none."""
_OWN = frozenset({"aux", "auxpass", "nsubj", "nsubjpass"})
_LEFT_OUT = word_list("aspect_verbs")
"""Verbs that say how another goes on; the statement is the other's ("started using" is "use")."""


@dataclass(frozen=True, slots=True)
class Stance:
    """`past`: the tense (D7). `ended`: said to hold no longer. `future`: said to come. `supposed`: under a
    modal verb."""

    past: bool = False
    ended: bool = False
    future: bool = False
    supposed: bool = False


def stance(verb: Token) -> Stance | None:
    """How a verb is asserted, or None where it is not."""
    if verb.sent[-1].text == "?" or (verb.tag_ == "VB" and not _has_host(verb)):
        return None
    past = ended = future = False
    for link in _chain(verb):
        adverbs = {c.lower_ for c in link.children if c.dep_ in {"advmod", "npadvmod"}}
        negated = any(c.dep_ == "neg" or c.lower_ in {"n't", "not", "never"} for c in link.children)
        no_longer = _no_longer(link)
        still_negated = negated and not adverbs & {"anymore", "longer"}
        if still_negated or adverbs & _SCARCELY or _conditional(link):
            return None
        ended = ended or no_longer or negated or (link.lower_ in _ENDING and link is not verb)
        past = past or ended or bool(adverbs & _FORMERLY) or _past_tense(link)
        future = future or _looks_ahead(link)
    return Stance(past, ended, future, supposed=bool(_helpers(verb) & _MODAL))


def words(verb: Token) -> list[str]:
    """The words a relation is named by: the verb, its particle, and a verb it hangs on that changes its sense
    ("plan to move", not "started using")."""
    name = _own_words(verb)
    for _ in range(_MOST_LINKS):
        head = verb.head
        used_to = head.lower_ == "used" and verb.tag_ == "VB" and not _passive(head)
        if verb.dep_ != "xcomp" or head.pos_ != "VERB" or used_to or head.lower_ in _LEFT_OUT | _ENDING:
            break
        name = [*_own_words(head), *(["to"] if any(c.lower_ == "to" for c in verb.lefts) else []), *name]
        verb = head
    return name


def _own_words(verb: Token) -> list[str]:
    particle = [
        c.lower_ for c in verb.rights if c.dep_ == "prt" or (c.dep_ == "advmod" and c.lower_ in _PARTICLES)
    ]
    return [*sorted(_helpers(verb) & _MODAL), verb.lower_, *particle]


def _chain(verb: Token) -> list[Token]:
    """The verb and those it complements or shares an auxiliary with: "I [no longer] [want] to [work] there"
    denies the work too, "it doesn't [read] or [write]" the writing."""
    chain = [verb]
    while len(chain) <= _MOST_LINKS:
        last = chain[-1]
        if last.head.pos_ not in {"VERB", "AUX"} or last.head in chain:
            break
        reported = last.dep_ == "ccomp" and any(c.dep_ == "neg" for c in last.head.children)
        if last.dep_ != "xcomp" and not reported and not _shares_helpers(last):
            break
        chain.append(last.head)
    return chain


def _shares_helpers(verb: Token) -> bool:
    """ "It was built and deployed": also where the tagger calls the second participle a past tense."""
    if verb.dep_ != "conj" or any(c.dep_ in _OWN for c in verb.lefts):
        return False
    return verb.tag_ in {"VB", "VBN", "VBG"} or (verb.tag_ == "VBD" and _passive(verb.head))


def _helpers(verb: Token) -> set[str]:
    """The verb's auxiliaries, in lower case."""
    for _ in range(_MOST_LINKS):
        if not _shares_helpers(verb) or verb.head.pos_ not in {"VERB", "AUX"}:
            break
        verb = verb.head
    return {c.lower_ for c in verb.children if c.dep_ in {"aux", "auxpass"}}


def _has_host(verb: Token) -> bool:
    """A bare infinitive asserts only as part of another clause or with an auxiliary; alone it is an order."""
    while verb.dep_ == "conj" and verb.head.tag_ == "VB":
        verb = verb.head
    if verb.dep_ in {"xcomp", "conj", "advcl", "acl", "relcl", "ccomp"}:
        return True
    return any(c.dep_ in {"aux", "nsubj", "nsubjpass"} for c in verb.lefts)


def _no_longer(verb: Token) -> bool:
    return any(
        c.lower_ == "longer" and any(g.lower_ == "no" for g in (*c.lefts, *c.doc[max(0, c.i - 1) : c.i]))
        for c in verb.children
    )


def _conditional(verb: Token) -> bool:
    return any(c.dep_ in {"mark", "advmod"} and c.lower_ in _CONDITION for c in verb.children)


def _passive(verb: Token) -> bool:
    return any(c.dep_ in {"auxpass", "nsubjpass"} for c in verb.children)


def _past_tense(verb: Token) -> bool:
    """Simple past, past progressive, past perfect, "used to"; not "has lived", not a bare participle (D7)."""
    helpers = _helpers(verb)
    if helpers & {"was", "were", "had", "did"}:
        return True
    return verb.tag_ == "VBD" and not helpers


def _looks_ahead(verb: Token) -> bool:
    helpers = _helpers(verb)
    return bool(helpers & {"will", "'ll", "’ll"}) or (
        verb.tag_ == "VBG" and bool(helpers & {"am", "is", "are", "'m", "'re", "'s"})
    )
