"""What holds of `normalise_relation` for any text whatever."""

from __future__ import annotations

import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st

from loom_core.canonical import NAME_LIMIT, normalise_relation
from loom_core.canonical.lexicon import verb_rows

_FORMS = sorted({form for row in verb_rows() for cell in row for form in cell.split("/") if form})
_AUXILIARIES = [
    "is",
    "was",
    "been",
    "has",
    "had",
    "do",
    "did",
    "not",
    "never",
    "can",
    "used to",
    "will",
    "co",
    "no longer",
    "a",
    "the",
]
_PIECES = st.one_of(
    st.sampled_from(_FORMS),
    st.sampled_from(_AUXILIARIES),
    st.sampled_from(["by", "in", "of", "由", "n't", "'s"]),
)
PHRASES = st.lists(_PIECES, max_size=6).flatmap(
    lambda words: st.sampled_from([" ", "_", "-", "__"]).map(lambda gap: gap.join(words))
)
ANY_TEXT = st.one_of(PHRASES, st.text(st.characters(exclude_categories=()), max_size=300))


@settings(max_examples=500)
@given(ANY_TEXT)
@example("canned_goods")
@example("stilled_sleeks")
@example("was_not")
def test_a_stored_relation_is_its_own_stored_form_and_not_past(text: str) -> None:
    relation, _ = normalise_relation(text)
    assert normalise_relation(relation) == (relation, False)


@settings(max_examples=500)
@given(ANY_TEXT)
def test_a_stored_relation_is_a_label_of_letters_digits_and_underscores(text: str) -> None:
    relation, _ = normalise_relation(text)
    assert len(relation) <= NAME_LIMIT
    assert relation == relation.strip("_")
    assert "__" not in relation
    for character in relation:
        assert character == "_" or character.isalnum() or unicodedata.category(character)[0] == "M"
    assert relation.encode("utf-8") is not None
