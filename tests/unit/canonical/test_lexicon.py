"""The lexicon file: stable, versioned, and loaded only when asked."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from importlib.resources import files

import pytest

from loom_core.canonical import LEXICON_VERSION, canonicalise
from loom_core.canonical.lexicon import names, rules, verb_rows
from loom_core.canonical.words import DROPPED

PUBLISHED = {
    "1": "76ab07beda6b96c9321ce03bccbcdb182c95c02914353d6a890e7b0b3322b07c",
    "2": "cdbf287b06b53a519a769352999070dfa3497565f45d859780dc88f1429a7a59",
}
"""Digest of the lexicon by version. Nodes are named by it: a change needs a new version, never an edit here."""


def content() -> str:
    return (files("loom_core.canonical") / "lexicon.tsv").read_text(encoding="utf-8")


def test_a_changed_lexicon_has_a_new_version() -> None:
    assert hashlib.sha256(content().encode()).hexdigest() == PUBLISHED[LEXICON_VERSION]
    assert f"version {LEXICON_VERSION}," in content().splitlines()[0]


def test_no_singular_is_itself_a_plural() -> None:
    assert set(rules().nouns.values()) & rules().nouns.keys() == set()
    assert [word for word in rules().nouns.values() if rules().singular(word) != word] == []


def test_no_word_that_names_nothing_is_a_plural() -> None:
    assert rules().nouns.keys() & DROPPED == set()


def test_no_verb_form_is_the_base_of_another_verb() -> None:
    bases = {row[0] for row in verb_rows()}
    owners: dict[str, set[str]] = {}
    for base, *cells in verb_rows():
        for form in "/".join(cells).split("/"):
            if form and form not in bases:
                owners.setdefault(form, set()).add(base)
    assert {form: bases for form, bases in owners.items() if len(bases) > 1} == {}


@pytest.mark.parametrize("name", ["rules", "names"])
def test_the_lexicon_is_broad(name: str) -> None:
    counted = len(rules().nouns) if name == "rules" else len(names().phrases)
    assert counted > {"rules": 30_000, "names": 500}[name]


def test_importing_the_package_reads_no_lexicon_and_loads_no_model() -> None:
    probe = (
        "import sys, loom_core.canonical as c\n"
        "from loom_core.canonical import lexicon\n"
        "heavy = {'inflect', 'spacy', 'lemminflect', 'wordfreq', 'numpy'} & sys.modules.keys()\n"
        "assert not heavy, heavy\n"
        "assert lexicon._sections.cache_info().currsize == 0\n"
        "c.canonicalise('billing services'); c.surface_forms('billing service'); c.normalise_relation('used')\n"
        "heavy = {'inflect', 'spacy', 'lemminflect', 'wordfreq', 'numpy'} & sys.modules.keys()\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", probe], check=True)


def test_the_cache_of_names_is_bounded() -> None:
    assert canonicalise.cache_info().maxsize is not None
