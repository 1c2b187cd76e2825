"""The stored form of a relation's verb, and whether it was stated in the past tense."""

import re
from functools import lru_cache

from loom_core.canonical.entities import NAME_LIMIT
from loom_core.canonical.folding import fold, is_mark, nfkc
from loom_core.canonical.verbs import Tense, Verb, inflected, is_participle, is_verb
from loom_core.canonical.words import ARTICLES, PREPOSITIONS, listed

_CACHED_RELATIONS = 1 << 13

_BE = listed("be am is are was were been being")
_HAVE = listed("have has had having")
_DO = listed("do does did")
_PAST_AUXILIARIES = listed("was were had did")
_FUTURE = listed("will shall")
_AUXILIARIES = _BE | _HAVE | _DO | _FUTURE
# What stands before the verb and belongs to the relation: `can use` is not `use`.
_KEPT = listed(
    "not never no longer can could may might must should would also always often only just already co self"
)
_NOW = listed("currently now still presently")
_BEFORE = listed("previously formerly")
_RELATION_PREPOSITIONS = PREPOSITIONS | listed("as like than up out off")

# Participles that tell a state when a preposition follows: `located in` is where a thing is. After any
# other, as in `deployed to` or `moved to`, the form is the past tense.
_STATES = listed(
    """
    locate situate base headquarter house employ marry engage relate connect link attach associate affiliate
    tie name compose comprise make build design intend mean require need use interest involve include contain
    embed store host license assign dedicate devote oppose accustom derive inspire descend separate isolate
    divide list register enroll enrol certify train implement code publish found establish raise educate
    station mount install configure power own define specify describe document map expose protect schedule
    """
)

_WORD = re.compile(r"[a-z0-9]+")
_CONTRACTED_NOT = re.compile(r"n't(?![a-z])")
_POSSESSIVE = re.compile(r"'s(?![a-z])")


@lru_cache(maxsize=_CACHED_RELATIONS)
def normalise_relation(text: str) -> tuple[str, bool]:
    """(relation as stored, stated in the past tense).

    The stored form is lower_snake: letters, digits and underscores of any script, the first verb in its
    base form, auxiliaries dropped, a negation kept. The tense is read off the verb as written; a passive
    participle (`located_in`, `owned_by`) is not past (D7). `""` where nothing is left to store, or where
    `text` has more than NAME_LIMIT characters as written, normalised or stored: callers refuse it.
    Raises nothing, whatever the string; the stored form is its own stored form.

    Source: "Verbs are normalised to lower_snake"; D7.
    """
    if len(text) > NAME_LIMIT or len(nfkc(text)) > NAME_LIMIT:
        return "", False
    words, past = _verb_phrase(_split(text))
    # A base form may look like an auxiliary: `canned goods` would be `can goods`, and then `can good`.
    while (again := _verb_phrase(words)[0]) != words:
        words = again
    relation = "_".join(words)
    return (relation, past) if len(relation) <= NAME_LIMIT else ("", False)


def _split(text: str) -> list[str]:
    spoken = fold(_spaced_camel_case(text))
    spoken = spoken.replace("can't", "can not").replace("won't", "will not").replace("cannot", "can not")
    spoken = _POSSESSIVE.sub("", _CONTRACTED_NOT.sub(" not", spoken))
    if spoken.isascii():
        return _WORD.findall(spoken)
    kept = (character if character.isalnum() or is_mark(character) else " " for character in spoken)
    return "".join(kept).split()


def _spaced_camel_case(text: str) -> str:
    """`dependsOn` as `depends On`; a text with separators of its own is left alone."""
    if not text.isalnum() or text.islower() or text.isupper():
        return text
    return "".join(
        f" {character}" if at and character.isupper() and text[at - 1].islower() else character
        for at, character in enumerate(text)
    )


def _verb_phrase(words: list[str]) -> tuple[list[str], bool]:
    kept: list[str] = []
    past = passive = False
    while words:
        word, rest = words[0], words[1:]
        if not rest:
            break
        if rest[0] == "not" and word in _AUXILIARIES:
            words = ["not", word, *rest[1:]]
        elif word == "used" and rest[0] == "to" and len(rest) > 1 and not passive:
            words, past = rest[1:], True
        elif word in _BEFORE or word in _NOW:
            words, past = rest, past or word in _BEFORE
        elif word in _FUTURE | _DO and is_verb(rest[0]):
            words, past = rest, past or word in _PAST_AUXILIARIES
        elif word in _HAVE and _continues(rest):
            words, past, passive = rest, past or word in _PAST_AUXILIARIES, True
        elif word in _BE and not _is_main(rest):
            words, past, passive = _without_article(rest), past or word in _PAST_AUXILIARIES, True
        elif word in _KEPT or _is_adverb(word, rest[0]):
            kept.append(word)
            words = rest
        else:
            break
    if not words:
        return kept, past
    return _finish(kept, words, past, passive)


def _finish(kept: list[str], words: list[str], past: bool, passive: bool) -> tuple[list[str], bool]:
    word, rest = words[0], words[1:]
    if word in _BE:
        past = past or word in _PAST_AUXILIARIES
        # `is_a` is the name of the edge to an entity's type (D24): not `be_a`.
        return [*kept, *(["is_a"] if rest in (["a"], ["an"]) else ["be", *rest])], past
    verb = inflected(word)
    if verb is None:
        return [*kept, *words], past
    return [*kept, verb.base, *rest], past or not passive and _tells_past(verb, rest)


def _tells_past(verb: Verb, rest: list[str]) -> bool:
    if verb.tense is Tense.PAST_OR_PARTICIPLE:
        followed = rest[0] if rest else ""
        is_participle = followed == "by" or verb.base in _STATES and followed in _RELATION_PREPOSITIONS
        return not is_participle
    return verb.tense is Tense.PAST


def _continues(rest: list[str]) -> bool:
    """Whether a form of `have` before `rest` is an auxiliary: has been, has worked, has not used."""
    first = rest[0]
    if first in _KEPT and len(rest) > 1:
        first = rest[1]
    return first == "been" or is_participle(first)


def _is_main(rest: list[str]) -> bool:
    """Whether a form of `be` before `rest` is the verb itself: is_a, is_in; not is_located_in."""
    return rest in (["a"], ["an"]) or rest[0] in _RELATION_PREPOSITIONS


def _without_article(words: list[str]) -> list[str]:
    return words[1:] if words[0] in ARTICLES and len(words) > 1 else words


def _is_adverb(word: str, following: str) -> bool:
    return word.endswith("ly") and not is_verb(word) and is_verb(following)
