"""The rules of `normalise_relation`, one by one."""

from __future__ import annotations

import pytest

from loom_core.canonical import NAME_LIMIT, normalise_relation
from tests.unit.canonical.tables import cases


@pytest.mark.parametrize(
    "written",
    [
        "works_at",
        "Works At",
        "works at",
        "work_at",
        "worksAt",
        "WORKS_AT",
        "working_at",
        "is_working_at",
        "will_work_at",
        "currently works at",
        "has_worked_at",
        "works-at.",
    ],
)
def test_present_forms_are_one_relation(written: str) -> None:
    assert normalise_relation(written) == ("work_at", False)


@pytest.mark.parametrize(
    "written",
    [
        "worked_at",
        "workedAt",
        "was_working_at",
        "had_worked_at",
        "did_work_at",
        "used_to_work_at",
        "formerly_worked_at",
    ],
)
def test_past_forms_are_the_same_relation_in_the_past(written: str) -> None:
    assert normalise_relation(written) == ("work_at", True)


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("located_in", "locate_in"),
        ("is_located_in", "locate_in"),
        ("owned_by", "own_by"),
        ("employed_by", "employ_by"),
        ("married_to", "marry_to"),
        ("based_in", "base_in"),
        ("written_in", "write_in"),
        ("known_as", "know_as"),
        ("is_used_to_encrypt", "use_to_encrypt"),
    ],
)
def test_a_passive_participle_is_not_past(written: str, stored: str) -> None:
    assert normalise_relation(written) == (stored, False)


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("was_located_in", "locate_in"),
        ("was_owned_by", "own_by"),
        ("were_married_to", "marry_to"),
        ("was", "be"),
    ],
)
def test_a_past_auxiliary_makes_the_passive_past(written: str, stored: str) -> None:
    assert normalise_relation(written) == (stored, True)


@pytest.mark.parametrize(
    ("written", "relation"),
    [
        ("bought", ("buy", True)),
        ("has become", ("become", False)),
        ("had run", ("run", True)),
        ("has put", ("put", False)),
        ("has output", ("have_output", False)),
        ("programmed", ("program", True)),
        ("left", ("leave", True)),
        ("saw", ("see", True)),
        ("wrote", ("write", True)),
        ("went_to", ("go_to", True)),
        ("ran_on", ("run_on", True)),
        ("superseded", ("supersede", True)),
        ("preferred", ("prefer", True)),
        ("deployed_to", ("deploy_to", True)),
        ("stopped_using", ("stop_using", True)),
        ("dockerizes", ("dockerize", False)),
        ("redeployed_to", ("redeploy_to", True)),
        ("co_occurs_with", ("co_occur_with", False)),
    ],
)
def test_the_first_verb_is_lemmatised(written: str, relation: tuple[str, bool]) -> None:
    assert normalise_relation(written) == relation


@pytest.mark.parametrize(
    "base",
    [
        "found",
        "lay",
        "fell",
        "bore",
        "wound",
        "address",
        "status",
        "focus",
        "use",
        "location",
        "employer",
        "part_of",
        "2nd_owner_of",
        "favorite_color",
        "family_of",
    ],
)
def test_a_base_form_or_a_noun_stays(base: str) -> None:
    assert normalise_relation(base) == (base, False)


@pytest.mark.parametrize(
    "stored",
    [
        "work_at",
        "employ_by",
        "live_in",
        "reside_in",
        "base_in",
        "locate_in",
        "marry_to",
        "employer",
        "location",
        "is_a",
    ],
)
def test_the_relations_that_loom_knows_by_name_are_stored_forms(stored: str) -> None:
    """Those of cardinality one by default (D14), and the edge to an entity's type (D24)."""
    assert normalise_relation(stored) == (stored, False)


def test_founded_does_not_become_find() -> None:
    assert normalise_relation("founded") == ("found", True)
    assert normalise_relation("found") == ("found", False)


@pytest.mark.parametrize(
    ("written", "relation"),
    [
        ("does_not_use", ("not_use", False)),
        ("doesn't use", ("not_use", False)),
        ("didn't use", ("not_use", True)),
        ("never_used", ("never_use", True)),
        ("no_longer_works_at", ("no_longer_work_at", False)),
        ("cannot_use", ("can_not_use", False)),
        ("is_not_located_in", ("not_locate_in", False)),
        ("wasn't", ("not_be", True)),
    ],
)
def test_a_negation_survives(written: str, relation: tuple[str, bool]) -> None:
    assert normalise_relation(written) == relation


@pytest.mark.parametrize(
    ("written", "relation"),
    [
        ("is_a", ("is_a", False)),
        ("is_an", ("is_a", False)),
        ("was_a", ("is_a", True)),
        ("is_in", ("be_in", False)),
        ("is_the_owner_of", ("owner_of", False)),
        ("has_part", ("have_part", False)),
        ("had", ("have", True)),
    ],
)
def test_a_verb_that_could_be_an_auxiliary_stays_where_it_is_the_verb(
    written: str, relation: tuple[str, bool]
) -> None:
    assert normalise_relation(written) == relation


@pytest.mark.parametrize(
    ("hostile", "stored"),
    [
        ("non-compliant", "non_compliant"),
        ("a,b", "a_b"),
        ("x'); DROP TABLE loom.entity_edges --", "x_drop_table_loom_entity_edges"),
        ("由...组成", "由_组成"),
        ("由组成", "由组成"),
        ("属于", "属于"),
        ("работает в", "работает_в"),
        ("संबंधित है", "संबंधित_है"),
        ("uses\x00\ud800", "use"),
        ("", ""),
        ("--", ""),
        ("...", ""),
        ("a" * NAME_LIMIT, "a" * NAME_LIMIT),
        ("a" * (NAME_LIMIT + 1), ""),
        ("ﬁ" * 200, ""),
    ],
)
def test_a_hostile_relation_becomes_a_plain_label_or_nothing(hostile: str, stored: str) -> None:
    assert normalise_relation(hostile) == (stored, False)


def test_the_firm_cases_hold() -> None:
    firm = [row for row in cases("relations.tsv") if row[3] == "firm"]
    assert len(firm) >= 25
    assert {
        row[0]: got for row in firm if (got := normalise_relation(row[0])) != (row[1], row[2] == "yes")
    } == {}
