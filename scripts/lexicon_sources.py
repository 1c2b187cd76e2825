"""Reads the dictionaries that scripts/build_lexicon.py builds from."""

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lemminflect
import names as census

RARE = 100
"""The size of words that SCOWL does not have, or only as a variant spelling, as `instal` is of install."""

LARGEST = 70
"""The largest of SCOWL's lists that is read: those above it hold a list under terms of its own."""

LISTS = Path(__file__).resolve().parent / "lexicon"


@dataclass
class Sources:
    """What the dictionaries say, words in lower case."""

    plurals: dict[str, list[str]]
    """Singular to plurals, as the SPECIALIST Lexicon gives them."""
    verbs: dict[str, list[str]]
    """Base to past, participle, -ing form and third person; alternatives by a slash, a blank for regular."""
    verb_bases: set[str]
    """WordNet's verbs of one word."""
    nouns: set[str]
    """Words that WordNet or the SPECIALIST Lexicon write in lower case as a noun."""
    proper: set[str]
    """Words that WordNet writes with a capital."""
    proper_phrases: set[str]
    """WordNet's names of several words."""
    exceptions: dict[str, str]
    """WordNet's irregular plurals to their singular."""
    sizes: dict[str, int]
    """SCOWL's size of a word: 10 for the commonest, 95 for what only the largest word lists have."""
    people: set[str]
    """Words that SCOWL writes with a capital and inflects: Americans, Mondays."""
    capitalised: set[str]
    """Other words that SCOWL writes with a capital."""
    surnames: dict[str, int]
    """Family name to its rank in the census."""
    given: dict[str, int]
    """Given name to its rank in the census."""

    def size(self, word: str) -> int:
        return self.sizes.get(word, RARE)

    def within(self, word: str, size: int) -> bool:
        return self.size(word) <= size


def read_sources(wordnet: Path, scowl: Path) -> Sources:
    plurals, verbs = _specialist(Path(lemminflect.__file__).parent / "resources" / "infl_lu.csv.gz")
    nouns, proper, phrases = _wordnet_nouns(wordnet / "data.noun")
    sizes, people, capitalised = _scowl(scowl)
    data = Path(census.__file__).parent
    return Sources(
        plurals=plurals,
        verbs=verbs,
        verb_bases={word for word in _wordnet_words(wordnet / "data.verb") if word.isalpha()},
        nouns=nouns | set(plurals),
        proper=proper,
        proper_phrases=phrases,
        exceptions=dict(line.split()[:2] for line in (wordnet / "noun.exc").read_text().splitlines()),
        sizes=sizes,
        people=people,
        capitalised=capitalised,
        surnames=_census(data / "dist.all.last"),
        given=_census(data / "dist.female.first") | _census(data / "dist.male.first"),
    )


def rows_of_list(name: str) -> list[list[str]]:
    """The lines of one of our own lists, split at blanks."""
    lines = (LISTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


def words_of_list(name: str) -> set[str]:
    return {word for row in rows_of_list(name) for word in row}


def _specialist(path: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    plurals: dict[str, list[str]] = {}
    verbs: dict[str, list[str]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for base, part, *forms in csv.reader(file):
            if not (base.islower() and base.isalpha()):
                continue
            if part == "noun":
                plurals[base] = [form for form in forms[0].split("/") if form.isalpha()]
            elif part == "verb":
                verbs[base] = forms
    return plurals, verbs


def _wordnet_nouns(path: Path) -> tuple[set[str], set[str], set[str]]:
    lower, proper, phrases = set(), set(), set()
    for word in _wordnet_words(path):
        if "_" in word:
            if word.rpartition("_")[2][:1].isupper():
                phrases.add(word.replace("_", " ").lower())
        elif word.isalpha():
            (lower if word.islower() else proper).add(word.lower())
    return lower, proper, phrases


def _wordnet_words(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("  "):  # the licence stands at the top, indented
            fields = line.split(" ")
            yield from fields[4 : 4 + 2 * int(fields[3], 16) : 2]


def _scowl(folder: Path) -> tuple[dict[str, int], set[str], set[str]]:
    sizes: dict[str, int] = {}
    people: set[str] = set()
    capitalised: set[str] = set()
    for path in sorted(folder.iterdir()):
        kind, _, digits = path.name.rpartition(".")
        if int(digits) > LARGEST:
            continue
        size = RARE if "variant" in kind else int(digits)
        for word in path.read_text(encoding="latin-1").split():
            if kind.endswith("-words"):
                sizes[word] = min(size, sizes.get(word, RARE))
            elif kind.endswith("-upper") and word.isalpha():
                people.add(word.lower())
            elif kind.endswith("-proper-names") and word.isalpha():
                capitalised.add(word.lower())
    return sizes, people, capitalised


def _census(path: Path) -> dict[str, int]:
    rows = (line.split() for line in path.read_text().splitlines())
    return {row[0].lower(): int(row[3]) for row in rows}
