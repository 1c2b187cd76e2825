"""Singularises the head noun of a phrase."""

from loom_core.canonical.lexicon import names, rules
from loom_core.canonical.words import (
    DROPPED,
    FIRST_PERSON,
    HYPHEN_PARTICLES,
    PARTICLE_PLURALS,
    PREPOSITIONS,
)


def singularise_head(phrase: str) -> str:
    """The phrase with its head noun in the singular.

    The head is the word before the first preposition (`heads of state`), else the last word. A word
    of other characters than letters (`src/services`, `k3s`) stays as it is. `phrase` is folded.
    """
    words = phrase.split(" ")
    at = _head(words)
    singular = _singular(words[at])
    # `mines` alone stays: as `mine` it would be the user.
    if len(words) == 1 and (singular in DROPPED or singular in FIRST_PERSON):
        return phrase
    if singular == words[at] or _is_name(words, at):
        return phrase
    words[at] = singular
    return " ".join(words)


def _is_name(words: list[str], at: int) -> bool:
    """Whether the words up to `at` end in a name: `niagara falls`, `microsoft teams`, `elizabeth banks`."""
    known = names()
    if at and words[at] in known.surnames and words[at - 1] in known.given:
        return True
    return any(" ".join(words[start : at + 1]) in known.phrases for start in range(max(0, at - 3), at))


def _head(words: list[str]) -> int:
    for at in range(1, len(words) - 1):
        # `peer to peer networks`: the doubled noun only qualifies the one that follows.
        if words[at] in PREPOSITIONS and words[at - 1] != words[at + 1]:
            return at - 1
    return len(words) - 1


def _singular(word: str) -> str:
    if word.isalpha():
        return rules().singular(word)
    if "-" in word:
        return _singular_of_hyphenated(word)
    return word


def _singular_of_hyphenated(word: str) -> str:
    parts = word.split("-")
    at = len(parts) - 1
    for inner in range(1, len(parts)):
        if parts[inner] in HYPHEN_PARTICLES:
            at = inner - 1
            break
    if at == len(parts) - 1 and parts[at] in PARTICLE_PLURALS:
        parts[at] = PARTICLE_PLURALS[parts[at]]
    elif parts[at].isalpha():
        parts[at] = rules().singular(parts[at])
    return "-".join(parts)
