"""Builds loom_core/canonical/lexicon.tsv; run by `make lexicon`.

    python scripts/build_lexicon.py [--wordnet DIR] [--scowl DIR] [--output FILE]

Sources, all free for any use including commercial, with their notices kept in
loom_core/canonical/SOURCES.md:

- lemminflect (MIT): the noun and verb forms of the NIH SPECIALIST Lexicon;
- WordNet 3.0 (WordNet licence): nouns, verbs, proper names; Debian's `wordnet-base`;
- SCOWL (permissive): which forms are in use, and how common; Debian's `scowl`;
- the `names` package (MIT): names of the 1990 US census, in the public domain;
- inflect (MIT): proposes a plural where the others give none;
- scripts/lexicon/*.txt: our own lists, which win over all of the above.

wordfreq is left out on purpose: its data is CC BY-SA, which would bind everyone who ships the result.
"""

import argparse
import csv
import gzip
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import inflect
import lemminflect
import names as census

from loom_core.canonical.lexicon import Rules

HERE = Path(__file__).resolve().parent
OUTPUT = HERE.parent / "loom_core" / "canonical" / "lexicon.tsv"

VERSION = "1"

COMMON = 50  # SCOWL sizes: up to 50 a reader knows the word, up to 80 a large dictionary has it.
KNOWN = 80
SUFFIX_LENGTHS = range(4, 8)
SUFFIX_SUPPORT = 25
TAIL_LENGTH = 5
SURNAME_RANK = 1000
GIVEN_RANK = 1200

# Heads of compounds that are no nouns themselves: microservices, webhooks, preprocessors.
HEADS = """
micro web data meta pre post sub super multi hyper cyber geo bio auto inter intra trans co re un nano mini
macro mega giga kilo tera peta pseudo proto poly mono semi anti counter cross over under out up down back
front side fore after tele photo video audio electro hydro thermo neuro psycho socio eco euro afro astro
chat smart touch type key user host file time dead live read write run start stop quick soft hard high low
open home cloud block stake replica config kube dev sys net func stateful
""".split()


@dataclass
class Sources:
    """What the dictionaries say, words in lower case."""

    plurals: dict[str, list[str]]  # singular: plurals, as the SPECIALIST Lexicon gives them
    verbs: dict[str, list[str]]  # base: past, participle, -ing, third person; alternatives by a slash
    nouns: set[str]
    proper: set[str]
    proper_phrases: set[str]
    exceptions: dict[str, str]
    verb_bases: set[str]
    size: dict[str, int]  # SCOWL size of a word written in lower case
    capitalised: set[str] = field(default_factory=set)
    surnames: dict[str, int] = field(default_factory=dict)
    given: dict[str, int] = field(default_factory=dict)

    def common(self, word: str, size: int = COMMON) -> bool:
        return self.size.get(word, 100) <= size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    parser.add_argument("--scowl", type=Path, default=Path("/usr/share/dict/scowl"))
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    for folder in (arguments.wordnet, arguments.scowl):
        if not folder.is_dir():
            parser.error(f"{folder} is missing: apt-get install wordnet-base scowl, or name it")
    sources = read_sources(arguments.wordnet, arguments.scowl)
    write(arguments.output, sources)


# --- reading ---


def read_sources(wordnet: Path, scowl: Path) -> Sources:
    resources = Path(lemminflect.__file__).parent / "resources"
    plurals, verbs = {}, {}
    with gzip.open(resources / "infl_lu.csv.gz", "rt", encoding="utf-8") as file:
        for base, part, *forms in csv.reader(file):
            if base.islower() and base.isalpha():
                if part == "noun":
                    plurals[base] = [form for form in forms[0].split("/") if form.isalpha()]
                elif part == "verb":
                    verbs[base] = forms
    lower, proper, phrases = set(), set(), set()
    for word in wordnet_words(wordnet / "data.noun"):
        if "_" in word:
            if word.rpartition("_")[2][:1].isupper():
                phrases.add(word.replace("_", " ").lower())
        elif word.isalpha():
            (lower if word.islower() else proper).add(word.lower())
    sources = Sources(
        plurals=plurals,
        verbs=verbs,
        nouns=lower | set(plurals),
        proper=proper,
        proper_phrases=phrases,
        exceptions=dict(line.split()[:2] for line in (wordnet / "noun.exc").read_text().splitlines()),
        verb_bases={word for word in wordnet_words(wordnet / "data.verb") if word.isalpha()} | set(verbs),
        size={},
    )
    read_scowl(scowl, sources)
    data = Path(census.__file__).parent
    sources.surnames = read_census(data / "dist.all.last")
    sources.given = read_census(data / "dist.female.first") | read_census(data / "dist.male.first")
    return sources


def wordnet_words(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("  "):  # the licence stands at the top, indented
            fields = line.split(" ")
            yield from fields[4 : 4 + 2 * int(fields[3], 16) : 2]


def read_scowl(folder: Path, sources: Sources) -> None:
    for path in sorted(folder.iterdir()):
        kind, _, size = path.name.rpartition(".")
        for word in path.read_text(encoding="latin-1").split():
            if kind.endswith("-words"):
                sources.size[word] = min(int(size), sources.size.get(word, 100))
            elif kind.endswith(("-proper-names", "-upper")) and word.isalpha():
                sources.capitalised.add(word.lower())


def read_census(path: Path) -> dict[str, int]:
    rows = (line.split() for line in path.read_text().splitlines())
    return {row[0].lower(): int(row[3]) for row in rows}


def hand(name: str) -> list[list[str]]:
    lines = (HERE / "lexicon" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


def hand_words(name: str) -> set[str]:
    return {word for line in hand(name) for word in line}


# --- nouns ---


def build_nouns(sources: Sources) -> dict[str, str]:
    """Plural to singular. A word that must not change maps to itself."""
    engine = inflect.engine()
    by_hand = {plural: singular for plural, singular in hand("plurals")}
    unchanged = hand_words("unchanged") | hand_words("names")
    ours = hand_words("singulars") | hand_words("acronyms")
    # SCOWL writes possessives of nouns only.
    nouns = sources.nouns | {
        word[:-2] for word in sources.size if word.endswith("'s") and word[:-2].isalpha() and word.islower() and sources.common(word, KNOWN)
    }
    candidates: dict[str, set[str]] = defaultdict(set)
    for singular in nouns | ours:
        proposed = sources.plurals.get(singular) or [engine.plural_noun(singular)]
        for plural in {plural for plural in proposed if plural} | ({singular + "s"} & sources.size.keys()):
            if singular in ours or singular in sources.plurals or sources.common(plural, KNOWN):
                candidates[plural].add(singular)
    for plural, singular in sources.exceptions.items():
        if singular in nouns and sources.common(plural, KNOWN):
            candidates[plural].add(singular)

    entries: dict[str, str] = {}
    for plural, singulars in candidates.items():
        singulars = {word for word in singulars if len(word) > 2 or word in ours} - {plural}
        if plural not in unchanged and singulars and plural.isalpha():
            entries[plural] = min(singulars, key=lambda word: (sources.size.get(word, 100), word))
    entries |= by_hand
    # A singular that is itself the plural of something would not be stable under a second pass.
    for plural, singular in list(entries.items()):
        if singular in entries and plural in entries:
            del entries[singular if plural in by_hand or not sources.common(singular) else plural]
    unstable = set(entries.values()) & entries.keys()
    assert not unstable, unstable
    return entries


def build_tails(nouns: dict[str, str], sources: Sources, names: set[str]) -> set[str]:
    """Plurals that may end a compound. Of the shortest, those that end no name we know of."""
    tails = {word for word, singular in nouns.items() if sources.common(word)}
    tails |= {word for word in tails_by_hand(nouns)}
    heads = set(nouns.values()) | set(HEADS)
    endings = {name[-4:] for name in names if name[:-4] in heads}
    return {tail for tail in tails if len(tail) >= TAIL_LENGTH or len(tail) == 4 and tail not in endings}


def tails_by_hand(nouns: dict[str, str]) -> Iterator[str]:
    ours = hand_words("singulars")
    return (plural for plural, singular in nouns.items() if singular in ours and len(singular) >= 4)


def build_suffixes(nouns: dict[str, str], names: set[str], singular: set[str]) -> dict[str, str]:
    """Endings that in every word we know mark a plural, with what stands in their place."""
    changes: dict[str, Counter[str]] = defaultdict(Counter)
    for plural, base in nouns.items():
        for length in SUFFIX_LENGTHS:
            stem = plural[:-length]
            if len(stem) >= 3 and plural.endswith("s"):
                changes[plural[-length:]][base[len(stem) :] if base.startswith(stem) else ""] += 1
    against = Counter(
        word[-length:] for word in names | singular for length in SUFFIX_LENGTHS if len(word) >= length + 3
    )
    kept: dict[str, str] = {}
    for suffix in sorted(changes, key=len):
        (base, count), *others = changes[suffix].most_common()
        implied = any(suffix.endswith(shorter) for shorter in kept)
        if base and not others and not implied and count >= SUFFIX_SUPPORT and not against[suffix]:
            kept[suffix] = base
    return kept


def build_phrases(nouns: dict[str, str], sources: Sources) -> set[str]:
    """Names of several words whose last word would otherwise be singularised."""
    phrases = sources.proper_phrases | {" ".join(line) for line in hand("phrases")}
    return {phrase for phrase in phrases if changes(phrase.rpartition(" ")[2], nouns)}


def changes(word: str, nouns: dict[str, str]) -> bool:
    return nouns.get(word, word) != word


# --- verbs ---


def build_verbs(sources: Sources) -> dict[str, list[str]]:
    """Base to its other forms: third person, -ing, past, participle; alternatives by a slash."""
    rows: dict[str, list[str]] = {}
    for base, (past, participle, gerund, third) in sources.verbs.items():
        if sources.common(base, 70):
            rows[base] = [third, gerund, past, participle or past]
    for base, *forms in hand("verbs"):
        if base not in rows:
            third, gerund, past = forms or regular_forms(base)
            rows[base] = [third, gerund, past, past]
    for past in hand_words("past"):
        rows.pop(past, None)
    return rows


def regular_forms(base: str) -> list[str]:
    if base.endswith("e"):
        return [base + "s", base[:-1] + "ing", base + "d"]
    if base.endswith("y") and base[-2] not in "aeiou":
        return [base[:-1] + "ies", base + "ing", base[:-1] + "ied"]
    third = base + ("es" if base.endswith(("s", "x", "z", "ch", "sh")) else "s")
    return [third, base + "ing", base + "ed"]


# --- writing ---


def write(path: Path, sources: Sources) -> None:
    nouns = build_nouns(sources)
    known_names = sources.proper | sources.capitalised | sources.surnames.keys() | sources.given.keys()
    names = {word for word in known_names | hand_words("names") if word.endswith("s") and word not in nouns}
    singular = {word for word in sources.nouns | hand_words("unchanged") if word not in nouns}
    suffixes = build_suffixes(nouns, names, singular)
    tails = build_tails(nouns, sources, names)
    rules = Rules(nouns, suffixes, tails, frozenset(nouns.values()) | frozenset(HEADS))
    surnames = {word for word, rank in sources.surnames.items() if rank <= SURNAME_RANK and word in nouns}
    given = {
        word for word, rank in sources.given.items()
        if rank <= GIVEN_RANK and not sources.common(word, 60) and len(word) > 2
    }
    sections: list[tuple[str, Iterable[str]]] = [
        ("noun", (f"{word}\t{base}" for word, base in sorted(nouns.items()) if word not in tails)),
        ("tail", (f"{word}\t{base}" for word, base in sorted(nouns.items()) if word in tails)),
        ("head", sorted(HEADS)),
        ("suffix", (f"{suffix}\t{base}" for suffix, base in sorted(suffixes.items()))),
        ("unchanged", sorted(word for word in names | singular if rules.singular(word) != word)),
        ("phrase", sorted(build_phrases(nouns, sources))),
        ("given", sorted(given)),
        ("surname", sorted(surnames)),
        ("verb", ("\t".join([base, *forms]) for base, forms in sorted(build_verbs(sources).items()))),
    ]
    with path.open("w", encoding="utf-8") as file:
        file.write(f"# Loom's lexicon, version {VERSION}, built by scripts/build_lexicon.py. Sources: SOURCES.md.\n")
        for title, rows in sections:
            lines = list(rows)
            file.write(f"[{title}]\n" + "".join(line + "\n" for line in lines))
            print(f"{title:10} {len(lines):6}")
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
