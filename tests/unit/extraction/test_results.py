"""Results as stored bytes."""

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_core.extraction.results import Entity, Extraction, Fact, Relation

INSTANTS = st.none() | st.datetimes().map(lambda d: d.replace(tzinfo=UTC))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
CONFIDENCE = st.floats(0, 1)
EXTRACTIONS = st.builds(
    Extraction,
    st.lists(st.builds(Entity, TEXT, st.none() | TEXT, CONFIDENCE), max_size=3).map(tuple),
    st.lists(
        st.builds(Relation, TEXT, TEXT, TEXT, INSTANTS, INSTANTS, st.booleans(), CONFIDENCE, TEXT), max_size=3
    ).map(tuple),
    st.lists(
        st.builds(
            Fact, TEXT, TEXT, st.floats(allow_nan=False, allow_infinity=False), st.none() | TEXT, INSTANTS
        ),
        max_size=3,
    ).map(tuple),
)


@given(EXTRACTIONS)
def test_what_is_stored_comes_back(extraction):
    assert Extraction.from_json(extraction.to_json()) == extraction
    assert Extraction.from_json(extraction.to_json().encode()) == extraction


def test_the_same_extraction_gives_the_same_bytes():
    one = Extraction((Entity("北京"),), (Relation("a", "use", "b"),), (Fact("a", "size", 1.5),))
    assert one.to_json() == Extraction.from_json(one.to_json()).to_json()
    assert "北京" in one.to_json()


@pytest.mark.parametrize(
    "junk", ["", "[]", "{}", "null", '{"entities": [{"nom": 1}], "relations": [], "facts": []}']
)
def test_anything_else_is_refused(junk):
    with pytest.raises((ValueError, TypeError, KeyError)):
        Extraction.from_json(junk)


def test_each_relation_is_credited_to_who_read_it():
    credited = Extraction((), (Relation("a", "use", "b"),)).credited_to("spacy/en_core_web_sm")
    assert [r.extractor for r in credited.relations] == ["spacy/en_core_web_sm"]
