"""Singularises the head noun of a phrase."""

from collections.abc import Iterator

from loom_core.canonical.lexicon import names, plurals_of, rules
from loom_core.canonical.words import (
    HYPHEN_PARTICLES,
    NOBODY,
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
    if singular == words[at]:
        return phrase
    if len(words) == 1:
        # `mines` stays: as `mine` it would be the user. `windows` alone is a name, `context windows` is none.
        stays = phrase in NOBODY or singular in NOBODY or phrase in names().phrases
        return phrase if stays else singular
    if _is_name(words, at):
        return phrase
    words[at] = singular
    return " ".join(words)


def plural_candidates(phrase: str) -> Iterator[str]:
    """What may be the plural of `phrase`, whose head is in the singular: known plurals and regular ones."""
    words = phrase.split(" ")
    at = _head(words)
    parts = words[at].split("-")
    for part in dict.fromkeys((_head_part(parts), len(parts) - 1)):
        for plural in plurals_of(parts[part]):
            hyphenated = "-".join([*parts[:part], plural, *parts[part + 1 :]])
            yield " ".join([*words[:at], hyphenated, *words[at + 1 :]])


def _head(words: list[str]) -> int:
    for at in range(1, len(words) - 1):
        # `peer to peer networks`: the doubled noun only qualifies the one that follows.
        if words[at] in PREPOSITIONS and words[at - 1] != words[at + 1]:
            return at - 1
    return len(words) - 1


def _is_name(words: list[str], at: int) -> bool:
    """Whether the words are a name, or end in one: `isles of scilly`, `microsoft teams`, `tyra banks`."""
    known = names()
    if at and words[at] in known.surnames and words[at - 1] in known.given:
        return True
    if at < len(words) - 1:
        return " ".join(words) in known.phrases
    return any(" ".join(words[start:]) in known.phrases for start in range(max(0, at - 3), at))


def _singular(word: str) -> str:
    if word.isalpha():
        return rules().singular(word)
    if "-" in word:
        return _singular_of_hyphenated(word)
    return word


def _singular_of_hyphenated(word: str) -> str:
    parts = word.split("-")
    at, last = _head_part(parts), len(parts) - 1
    singular = rules().singular(parts[at]) if parts[at].isalpha() else parts[at]
    if singular == parts[at] and parts[last] in PARTICLE_PLURALS:
        at, singular = last, PARTICLE_PLURALS[parts[last]]
    elif singular == parts[at] and at == last:
        singular = _as_in_one_word(parts)
    parts[at] = singular
    return "-".join(parts)


def _head_part(parts: list[str]) -> int:
    """The head of `runners-up` and `mothers-in-law` stands before the particle, that of `sign-ups` last."""
    return next((at - 1 for at in range(1, len(parts)) if parts[at] in HYPHEN_PARTICLES), len(parts) - 1)


def _as_in_one_word(parts: list[str]) -> str:
    """The last part of `post-mortems` in the singular, as that of `postmortems` tells."""
    before = "".join(parts[:-1])
    singular = rules().nouns.get(before + parts[-1], before + parts[-1])
    return singular.removeprefix(before) if singular.startswith(before) else parts[-1]
