"""Builds loom_core/canonical/lexicon.tsv; run by `make lexicon`.

    python scripts/build_lexicon.py [--wordnet DIR] [--scowl DIR] [--output FILE]

Sources, all free for any use including commercial, with their notices kept in
loom_core/canonical/SOURCES.md:

- lemminflect (MIT): the noun and verb forms of the NIH SPECIALIST Lexicon;
- WordNet 3.0 (WordNet licence): nouns and proper names; Debian's `wordnet-base`;
- SCOWL (permissive): which forms are in use, and how common; Debian's `scowl`;
- the `names` package (MIT): names of the 1990 US census, in the public domain;
- inflect (MIT): proposes a plural where the others give none;
- scripts/lexicon/*.txt: our own lists, which win over all of the above.

wordfreq is left out on purpose: its data is CC BY-SA, which would bind everyone who ships the result.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import inflect
from lexicon_sources import Sources, read_sources, rows_of_list, words_of_list

from loom_core.canonical.lexicon import LEXICON_VERSION, SUFFIX_LENGTHS, Rules
from loom_core.canonical.words import DROPPED

OUTPUT = Path(__file__).resolve().parent.parent / "loom_core" / "canonical" / "lexicon.tsv"

# SCOWL sizes: up to 50 most readers know the word, up to 70 a dictionary has it.
COMMON = 50
KNOWN = 70

SUFFIX_SUPPORT = 10
"""Words in which an ending has to mark the plural before it is trusted in words unseen."""
SHORTEST_TAIL = 4
SURNAME_RANK = 1500
RARE_NAME = 100_000
GIVEN_RANK = 3000


def main() -> None:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    parser.add_argument("--scowl", type=Path, default=Path("/usr/share/dict/scowl"))
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    for folder in (arguments.wordnet, arguments.scowl):
        if not folder.is_dir():
            parser.error(f"{folder} is missing: apt-get install wordnet-base scowl, or name it")
    write(arguments.output, build(read_sources(arguments.wordnet, arguments.scowl)))


def build(sources: Sources) -> dict[str, list[str]]:
    """The lexicon's sections: title to lines."""
    nouns = build_nouns(sources)
    known = (
        sources.proper | sources.people | sources.capitalised | sources.surnames.keys() | sources.given.keys()
    )
    names = {word for word in known | words_of_list("names") if word.endswith("s") and word not in nouns}
    singulars = {word for word in sources.nouns | words_of_list("unchanged") if word not in nouns}
    heads = words_of_list("heads")
    suffixes = build_suffixes(nouns, names | singulars)
    tails = build_tails(nouns, sources, names, heads)
    verbs = build_verbs(sources)
    rules = Rules(nouns, suffixes, frozenset(tails), frozenset(nouns.values()) | heads, frozenset(verbs))
    return {
        "noun": _pairs((word, base) for word, base in nouns.items() if word not in tails),
        "tail": _pairs((word, base) for word, base in nouns.items() if word in tails),
        "head": sorted(heads),
        "suffix": _pairs(suffixes.items()),
        "unchanged": sorted(word for word in names | singulars if rules.singular(word) != word),
        "phrase": sorted(build_phrases(nouns, sources)),
        "given": sorted(build_given_names(sources)),
        "surname": sorted(word for word in nouns if sources.surnames.get(word, RARE_NAME) <= SURNAME_RANK),
        "verb": sorted("\t".join([base, *forms]) for base, forms in verbs.items()),
    }


def build_nouns(sources: Sources) -> dict[str, str]:
    """Plural to singular."""
    by_hand = dict(rows_of_list("plurals"))
    unchanged = words_of_list("unchanged") | words_of_list("names") | DROPPED
    ours = words_of_list("singulars") | words_of_list("acronyms")
    entries: dict[str, str] = {}
    for plural, singulars in propose_plurals(sources, ours).items():
        fit = {word for word in singulars if len(word) > 2 or word in ours} - {plural}
        if fit and plural not in unchanged and plural.isalpha() and plural.islower() and plural[-2:] != "ss":
            entries[plural] = min(fit, key=lambda word: (sources.size(word), word))
    entries |= by_hand
    # A singular that is itself the plural of something would change again on a second pass.
    for plural, singular in list(entries.items()):
        if singular in entries and plural in entries:
            del entries[singular if plural in by_hand or not sources.within(singular, COMMON) else plural]
    unstable = set(entries.values()) & entries.keys()
    assert not unstable, unstable
    return entries


def propose_plurals(sources: Sources, ours: set[str]) -> dict[str, set[str]]:
    """Plural to the singulars it may belong to."""
    engine = inflect.engine()
    acronyms = words_of_list("acronyms")
    # SCOWL writes the possessive of nouns only.
    possessives = (word for word in sources.sizes if word.endswith("'s") and sources.within(word, KNOWN))
    nouns = sources.nouns | {word[:-2] for word in possessives if word[:-2].isalpha() and word.islower()}
    proposals: dict[str, set[str]] = defaultdict(set)
    for singular in nouns | ours:
        if singular in acronyms:
            plurals = [singular + "s"]
        else:
            plurals = sources.plurals.get(singular) or [engine.plural_noun(singular)]
        for plural in {*plurals, *({singular + "s"} & sources.sizes.keys())}:
            if singular in ours or singular in sources.plurals or sources.within(plural, KNOWN):
                proposals[plural].add(singular)
    for plural, singular in sources.exceptions.items():
        if singular in nouns and sources.within(plural, KNOWN):
            proposals[plural].add(singular)
    for singular in sources.people:
        plural = engine.plural_noun(singular)
        if plural in sources.people and plural not in sources.proper | sources.surnames.keys():
            proposals[plural].add(singular)
    # As the head of a name, `deploys` or `retries` is a noun made of the verb.
    for base, (third, *_) in build_verbs(sources).items():
        if third not in proposals and sources.within(base, COMMON):
            proposals[third].add(base)
    return proposals


def build_tails(nouns: dict[str, str], sources: Sources, names: set[str], heads: set[str]) -> set[str]:
    """Plurals that may end a compound; of the shortest, those that end no name we know of."""
    ours = {plural for plural, singular in nouns.items() if singular in words_of_list("singulars")}
    every_head = heads | set(nouns.values())
    in_names = {name[-SHORTEST_TAIL:] for name in names if name[:-SHORTEST_TAIL] in every_head}
    return {
        word
        for word in nouns
        if (word in ours or sources.within(word, COMMON))
        and (len(word) > SHORTEST_TAIL or len(word) == SHORTEST_TAIL and word not in in_names)
    }


def build_suffixes(nouns: dict[str, str], others: set[str]) -> dict[str, str]:
    """Endings that mark a plural in every word we know, each with the singular's ending."""
    changes: dict[str, Counter[str | None]] = defaultdict(Counter)
    for plural, base in nouns.items():
        for length in SUFFIX_LENGTHS:
            stem = plural[:-length]
            if len(stem) >= 3 and plural.endswith("s"):
                changes[plural[-length:]][base[len(stem) :] if base.startswith(stem) else None] += 1
    against = {word[-length:] for word in others for length in SUFFIX_LENGTHS if len(word) >= length + 3}
    kept: dict[str, str] = {}
    for suffix in sorted(changes, key=lambda suffix: (len(suffix), suffix)):
        (base, count), *rest = changes[suffix].most_common()
        implied = any(suffix.endswith(shorter) for shorter in kept)
        if base and not rest and not implied and count >= SUFFIX_SUPPORT and suffix not in against:
            kept[suffix] = base
    return kept


def build_phrases(nouns: dict[str, str], sources: Sources) -> set[str]:
    """Names of several words whose last word would otherwise be singularised."""
    ours = {" ".join(row) for row in rows_of_list("phrases")}
    return ours | {phrase for phrase in sources.proper_phrases if phrase.rpartition(" ")[2] in nouns}


def build_given_names(sources: Sources) -> set[str]:
    """Given names that are no common noun and no software: before one of them `banks` is a family name."""
    return {
        word
        for word, rank in sources.given.items()
        if rank <= GIVEN_RANK
        and len(word) > 2
        and not (word in sources.nouns and sources.within(word, COMMON))
        and word not in words_of_list("products")
    }


def build_verbs(sources: Sources) -> dict[str, list[str]]:
    """Base to third person, -ing form, past and participle; alternatives by a slash."""
    rows: dict[str, list[str]] = {}
    for base, (past, participle, gerund, third) in sources.verbs.items():
        if sources.within(base, KNOWN):
            rows[base] = [third, gerund, past, participle or past]
    for base in sources.verb_bases - rows.keys():
        forms = regular_forms(base, sources)
        if all(sources.within(form, KNOWN) for form in forms):
            rows[base] = [*forms, forms[-1]]
    for base, *forms in rows_of_list("verbs"):
        if forms:
            third, gerund, past, *participle = forms
            rows[base] = [third, gerund, past, *(participle or [past])]
        else:
            third, gerund, past = regular_forms(base, sources)
            rows.setdefault(base, [third, gerund, past, past])
    for past in words_of_list("past"):
        rows.pop(past, None)
    return _one_verb_a_form(rows, sources)


def regular_forms(base: str, sources: Sources) -> list[str]:
    """Third person, -ing form and past of a regular verb."""
    if base.endswith("e"):
        return [base + "s", base[:-1] + "ing", base + "d"]
    if base.endswith("y") and base[-2] not in "aeiou":
        return [base[:-1] + "ies", base + "ing", base[:-1] + "ied"]
    stem = base + base[-1] if sources.within(f"{base}{base[-1]}ing", KNOWN) else base
    return [base + ("es" if base.endswith(("s", "x", "z", "ch", "sh")) else "s"), stem + "ing", stem + "ed"]


def _one_verb_a_form(rows: dict[str, list[str]], sources: Sources) -> dict[str, list[str]]:
    """Leaves a form that two verbs share, as `routed` of rout and route, to the commoner one."""
    owners: dict[str, str] = {}
    for base in sorted(rows, key=lambda base: (sources.size(base), base)):
        for form in "/".join(rows[base]).split("/"):
            owners.setdefault(form, base)
    return {
        base: ["/".join(form for form in cell.split("/") if owners[form] == base) for cell in cells]
        for base, cells in rows.items()
    }


def _pairs(items: Iterable[tuple[str, str]]) -> list[str]:
    return sorted(f"{word}\t{base}" for word, base in items)


def write(path: Path, sections: dict[str, list[str]]) -> None:
    title = f"# Loom's lexicon, version {LEXICON_VERSION}, by scripts/build_lexicon.py; sources: SOURCES.md"
    with path.open("w", encoding="utf-8") as file:
        file.write(title + "\n")
        for section, lines in sections.items():
            file.write(f"[{section}]\n" + "".join(line + "\n" for line in lines))
            print(f"{section:10} {len(lines):6}")
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
