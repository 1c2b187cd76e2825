"""Change titles as sentences: "Fixes deadlock in ProducerPool" has no subject, and a parser of prose reads
its verb as a name ("Fixes"). With a subject in front ("It fixes …") it reads the same words right.
"""

from __future__ import annotations

import re

from loom_core.extraction.local.lexicon import word_list

_VERBS = word_list("change_verbs")
_DOUBLED = word_list("doubling_verbs")


def _inflected(verb: str) -> list[tuple[str, str]]:
    """(form, the subject it takes)."""
    stem = verb[:-1] if verb.endswith("e") else verb + verb[-1] if verb in _DOUBLED else verb
    if verb.endswith("y") and verb[-2] not in "aeiou":
        third, past = verb[:-1] + "ies", verb[:-1] + "ied"
    else:
        third = verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")
        past = verb + "d" if verb.endswith("e") else stem + "ed"
    return [(verb, "We"), (third, "It"), (past, "We"), (stem + "ing", "We are")]


_SUBJECT_FOR = {form: subject for verb in sorted(_VERBS) for form, subject in _inflected(verb)} | {
    "made": "We",
    "ran": "We",
}
_OPENING = re.compile(
    r"(?:(?:Now|Also|Don't|Finally|Properly|Correctly|Temporarily|Always|Only)\s+)?([A-Za-z]+)(?=\s+\S)"
)
_NOUN_FOLLOWS = re.compile(
    r"\s+(?:for|of|on|is|are|was|were|has|have|from|by|and|due|at|failed|works?)\b", re.IGNORECASE
)


def as_sentence(text: str) -> str:
    """The text with a subject before the verb it opens with; unchanged if it opens with anything else."""
    match = _OPENING.match(text)
    if match is None or _NOUN_FOLLOWS.match(text, match.end()):
        return text
    subject = _SUBJECT_FOR.get(match[1].casefold())
    if subject is None:
        return text
    return f"{subject} {text[: match.start(1)].lower()}{match[1].lower()}{text[match.end() :]}"


def is_change_verb(word: str) -> bool:
    """Whether a lone word is a title's verb and no name."""
    return word.casefold() in _SUBJECT_FOR
