"""The checked-in lexicon, read once, on first use."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

LEXICON_VERSION = "2"
"""Moves when an entry does: stored nodes are then renamed with `loom graph recanonicalise`."""

SUFFIX_LENGTHS = (4, 5, 6, 7)
_SHORTEST_STEM = 3
_TELLING_TAIL = 7


@dataclass(frozen=True)
class Rules:
    """Singulars of single words. No singular is itself a plural, so that a second pass changes nothing.

    `nouns` maps every known plural to its singular. Of a word that is not there, its parts may be known:

    - a compound, `microservices`, has a head and a tail that are;
    - an agent, `fuzzers`, is made of a verb that is;
    - a derivation, `quantizations`, ends in one of `suffixes`, which mark the plural in each of the
      words the builder saw.

    The builder checks all three against every name it knows and lists the exceptions in `unchanged`.
    Any other word is taken for a name.
    """

    nouns: dict[str, str]
    suffixes: dict[str, str]
    tails: frozenset[str]
    heads: frozenset[str]
    verbs: frozenset[str]
    unchanged: frozenset[str] = frozenset()

    def singular(self, word: str) -> str:
        """The singular of a folded, alphabetic `word`, or the word itself."""
        known = self.nouns.get(word)
        if known is not None:
            return known
        if not word.endswith("s") or word in self.unchanged:
            return word
        return self._of_compound(word) or self._of_agent(word) or self._of_derivation(word) or word

    def _of_compound(self, word: str) -> str | None:
        for at in range(2, len(word) - 3):
            tail = word[at:]
            if tail in self.tails and (
                len(tail) >= _TELLING_TAIL or at >= _SHORTEST_STEM and word[:at] in self.heads
            ):
                return word[:at] + self.nouns[tail]
        return None

    def _of_agent(self, word: str) -> str | None:
        stem, ending = word[:-3], word[-3:]
        if ending not in ("ers", "ors") or len(stem) < _SHORTEST_STEM:
            return None
        doubled = stem[-1] == stem[-2] and stem[:-1] in self.verbs
        return word[:-1] if doubled or stem in self.verbs or stem + "e" in self.verbs else None

    def _of_derivation(self, word: str) -> str | None:
        for length in SUFFIX_LENGTHS:
            suffix = self.suffixes.get(word[-length:])
            if suffix is not None and len(word) >= length + _SHORTEST_STEM:
                return word[:-length] + suffix
        return None


@dataclass(frozen=True)
class Names:
    """Names whose last word looks like a plural, and the given and family names that make others."""

    phrases: frozenset[str]
    given: frozenset[str]
    surnames: frozenset[str]


@cache
def rules() -> Rules:
    sections = _sections()
    tails = dict(_rows(sections["tail"]))
    nouns = dict(_rows(sections["noun"])) | tails
    return Rules(
        nouns=nouns,
        suffixes=dict(_rows(sections["suffix"])),
        tails=frozenset(tails),
        heads=frozenset(nouns.values()) | frozenset(sections["head"]),
        verbs=frozenset(row[0] for row in verb_rows()),
        unchanged=frozenset(sections["unchanged"]),
    )


def plurals_of(word: str) -> list[str]:
    """The known plurals of `word` and the regular ones it might have."""
    regular = [word + "s", word + "es"]
    if word.endswith("y"):
        regular.append(word[:-1] + "ies")
    return [*_plurals().get(word, ()), *regular]


@cache
def _plurals() -> dict[str, list[str]]:
    plurals = defaultdict(list)
    for plural, singular in rules().nouns.items():
        plurals[singular].append(plural)
    return dict(plurals)


@cache
def names() -> Names:
    sections = _sections()
    return Names(*(frozenset(sections[title]) for title in ("phrase", "given", "surname")))


def verb_rows() -> list[list[str]]:
    """Rows of base, third person, -ing form, past, participle; alternatives joined by a slash."""
    return _rows(_sections()["verb"])


@cache
def _sections() -> dict[str, list[str]]:
    text = (files(__package__) / "lexicon.tsv").read_text(encoding="utf-8")
    sections: dict[str, list[str]] = defaultdict(list)
    title = ""
    for line in text.splitlines():
        if line.startswith("["):
            title = line[1:-1]
        elif not line.startswith("#"):
            sections[title].append(line)
    return sections


def _rows(lines: list[str]) -> list[list[str]]:
    return [line.split("\t") for line in lines]
