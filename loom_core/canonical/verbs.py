"""Reads base and tense off a single verb form."""

from enum import Enum
from functools import cache
from typing import NamedTuple

from loom_core.canonical.lexicon import verb_rows

_PREFIXES = ("re", "un", "de", "pre", "co", "over", "under", "mis", "out", "sub", "inter", "auto", "cross")
_SHORTEST_STEM = 4


class Tense(Enum):
    PRESENT = "present"
    PAST = "past"
    PARTICIPLE = "participle"
    PAST_OR_PARTICIPLE = "past or participle"


_PARTICIPLES = (Tense.PARTICIPLE, Tense.PAST_OR_PARTICIPLE)


class Verb(NamedTuple):
    base: str
    tense: Tense


# After `have` these are what one has: `has_output` names an attribute.
_NOUNS_AFTER_HAVE = frozenset(("input", "output", "offset", "cost", "bid", "cast", "fit", "inset", "preset"))

# The endings with which verbs are still coined: dockerizes, hydrated, gamified.
_COINED = {
    stem + ending: Verb(base, tense)
    for stem, endings, base in (
        ("iz", ("es", "ing", "ed"), "ize"),
        ("is", ("es", "ing", "ed"), "ise"),
        ("at", ("es", "ing", "ed"), "ate"),
        ("if", ("ies", "ying", "ied"), "ify"),
    )
    for ending, tense in zip(endings, (Tense.PRESENT, Tense.PRESENT, Tense.PAST_OR_PARTICIPLE), strict=True)
}


def inflected(word: str) -> Verb | None:
    """The verb of which `word` is a form other than its base, else None.

    A base form is never looked into, even where it is a form of another verb too: `found` stays, so
    that `founded` does not turn into `find` on a second pass.
    """
    forms, bases, _ = _forms()
    if word in bases:
        return None
    if (verb := forms.get(word)) is not None:
        return verb
    for prefix in _PREFIXES:
        stem = word.removeprefix(prefix)
        if stem != word and len(stem) >= _SHORTEST_STEM and (verb := forms.get(stem)) is not None:
            return Verb(prefix + verb.base, verb.tense)
    for length in (5, 4, 3):
        if len(word) > length + 2 and (verb := _COINED.get(word[-length:])) is not None:
            return Verb(word[:-length] + verb.base, verb.tense)
    return None


def is_verb(word: str) -> bool:
    return word in _forms()[1] or inflected(word) is not None


def is_participle(word: str) -> bool:
    """Whether `word` may follow `have` in a perfect tense; also a base form that is its own participle (`run`)."""
    verb = inflected(word)
    return word in _forms()[2] or (verb is not None and verb.tense in _PARTICIPLES)


@cache
def _forms() -> tuple[dict[str, Verb], frozenset[str], frozenset[str]]:
    forms: dict[str, Verb] = {}
    bases, own_participles = set(), set()
    for base, third, gerund, past, participle in verb_rows():
        bases.add(base)
        pasts, participles = past.split("/"), participle.split("/")
        for form in (*third.split("/"), *gerund.split("/")):
            forms[form] = Verb(base, Tense.PRESENT)
        for form in pasts:
            forms[form] = Verb(base, Tense.PAST_OR_PARTICIPLE if form in participles else Tense.PAST)
        for form in participles:
            forms.setdefault(form, Verb(base, Tense.PARTICIPLE))
        if base in participles and base not in _NOUNS_AFTER_HAVE:
            own_participles.add(base)
    return forms, frozenset(bases), frozenset(own_participles)
