"""Names and plurals of every kind: our own table, and the case files where they are at hand."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from loom_core.canonical import canonicalise
from tests.unit.canonical.tables import cases, rows

TABLE: dict[str, list[tuple[str, str]]] = defaultdict(list)
for _kind, _raw, _canonical in rows(Path(__file__).with_name("names.tsv")):
    TABLE[_kind].append((_raw, _canonical))


def wrong(pairs: list[tuple[str, str]]) -> dict[str, str | None]:
    return {raw: got for raw, wanted in pairs if ((got := canonicalise(raw)) or "") != wanted}


@pytest.mark.parametrize("kind", TABLE)
def test_every_name_of_a_kind_gets_its_canonical_form(kind: str) -> None:
    assert wrong(TABLE[kind]) == {}


@pytest.mark.parametrize("kind", TABLE)
def test_the_canonical_form_of_a_canonical_form_is_itself(kind: str) -> None:
    forms = [canonical for _, canonical in TABLE[kind] if canonical]
    assert {form: again for form in forms if (again := canonicalise(form)) != form} == {}


@pytest.mark.parametrize("kind", TABLE)
def test_case_does_not_decide(kind: str) -> None:
    names = [raw for raw, _ in TABLE[kind] if raw.isascii()]
    assert [raw for raw in names if canonicalise(raw.upper()) != canonicalise(raw.lower())] == []


def test_the_firm_cases_hold() -> None:
    firm = [(raw, canonical) for raw, canonical, kind, _ in cases("canonical.tsv") if kind != "choice"]
    assert len(firm) > 400
    assert wrong(firm) == {}


def test_names_merge_and_stay_apart_as_the_pairs_say() -> None:
    judged = [
        (relation, a, b, canonicalise(a), canonicalise(b)) for relation, a, b in cases("canonical_pairs.tsv")
    ]
    assert len(judged) > 20
    assert [row for row in judged if (row[3] == row[4]) != (row[0] == "same")] == []
