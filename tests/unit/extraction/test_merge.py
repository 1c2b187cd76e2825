"""The union of two readings of a text."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from loom_core.extraction.merge import agreed, union
from loom_core.extraction.results import Entity, Extraction, Relation

MARCH = datetime(2025, 3, 1, tzinfo=UTC)


def test_what_both_found_is_one_and_surer_than_either():
    model = Extraction(
        (Entity("The Billing Service", "service", 0.7),),
        (Relation("Anna", "work_at", "Acme", confidence=0.7, extractor="m"),),
    )
    local = Extraction(
        (Entity("billing service", None, 0.5), Entity("Acme", "organization", 0.7)),
        (Relation("anna", "work_at", "acme", valid_from=MARCH, confidence=0.6, extractor="s"),),
    )
    both = union(model, local)
    assert [(e.name, e.type) for e in both.entities] == [
        ("The Billing Service", "service"),
        ("Acme", "organization"),
    ]
    (relation,) = both.relations
    assert (relation.extractor, relation.valid_from) == ("m", MARCH)
    assert relation.confidence == agreed(0.7, 0.6) > 0.7


def test_what_one_found_keeps_its_reader_and_confidence():
    model = Extraction((), (Relation("Anna", "own", "Kestrel", confidence=0.7, extractor="m"),))
    local = Extraction((), (Relation("Anna", "work_at", "Acme", confidence=0.6, extractor="s"),))
    assert [(r.extractor, r.confidence) for r in union(model, local).relations] == [("m", 0.7), ("s", 0.6)]


def test_a_side_that_found_nothing_changes_nothing():
    found = Extraction((Entity("Redis"),), (Relation("a", "use", "b", confidence=0.5),))
    assert union(found, Extraction()) == found == union(Extraction(), found)


@given(st.floats(0, 1), st.floats(0, 1))
def test_agreement_never_lowers_confidence_and_never_passes_one(one, other):
    assert max(one, other) - 1e-4 <= agreed(one, other) <= 1
