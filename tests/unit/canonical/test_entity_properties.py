"""What holds of `canonicalise` for any text whatever."""

from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from loom_core.canonical import NAME_LIMIT, canonicalise
from loom_core.canonical.lexicon import rules

_WORDS = "the |a |my |mine|mines|I|us|'s|s'| of | in |error:|commit:|**|```|[x](y)|- |# |U.S.|i.e.|1|b"
_ODD = ["ß", "ﬁ", "İ", "ς", "e\u0301", "\u200d", "\ud800", "\x00", "北", "京"]
_PIECES = st.one_of(
    st.sampled_from(list(" .,;:!?'\"`*_-~()[]{}<>#@$&/\\+|«»“”’…—")),
    st.sampled_from(_WORDS.split("|") + _ODD),
    st.sampled_from(sorted(rules().nouns)),
    st.sampled_from(sorted(set(rules().nouns.values()))),
)
NAMES = st.lists(_PIECES, max_size=8).map("".join)
ANY_TEXT = st.one_of(NAMES, st.text(st.characters(exclude_categories=()), max_size=300))
_EAST_ASIAN = re.compile(
    r"[\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)


@settings(max_examples=500)
@given(ANY_TEXT)
@example("error:`Timeouts`")
@example("the the mine's")
@example("`a` `b``")
@example("´" * NAME_LIMIT)
def test_a_canonical_form_is_its_own_canonical_form(text: str) -> None:
    canonical = canonicalise(text)
    assert canonical is None or canonicalise(canonical) == canonical


@settings(max_examples=500)
@given(NAMES.filter(str.isascii))
def test_case_never_decides(text: str) -> None:
    assert canonicalise(text.upper()) == canonicalise(text.lower()) == canonicalise(text)


@settings(max_examples=500)
@given(ANY_TEXT)
def test_a_canonical_form_can_be_stored_and_is_neither_too_short_nor_too_long(text: str) -> None:
    canonical = canonicalise(text)
    if canonical is not None:
        assert canonical.encode("utf-8")
        assert (3 if not _EAST_ASIAN.search(canonical) else 2) <= len(canonical) <= NAME_LIMIT
        assert canonical == " ".join(canonical.split())
        assert any(map(str.isalnum, canonical))


@given(st.text(min_size=NAME_LIMIT + 1, max_size=NAME_LIMIT + 20))
def test_a_longer_text_names_nothing(text: str) -> None:
    assert canonicalise(text) is None


@given(NAMES, st.sampled_from(["the {}", "“{}”", "`{}`", " {} ", "{}.", "({})", "**{}**"]))
def test_an_article_quotes_and_outer_marks_change_nothing(text: str, wrapping: str) -> None:
    canonical = canonicalise(text)
    if canonical is not None and canonical.replace(" ", "").isalnum() and len(canonical) < NAME_LIMIT - 5:
        assert canonicalise(wrapping.format(canonical)) == canonical
