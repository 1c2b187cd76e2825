from __future__ import annotations

import pytest

from loom_core.search.words import MAX_WORDS, word_forms


@pytest.mark.parametrize(
    ("tokens", "forms"),
    [
        ([], []),
        (["billing", "services"], [["billing"], ["services", "service"]]),
        (["box"], [["box", "boxes"]]),
        (["what", "is", "kestrel"], [["kestrel", "kestrels"]]),
        (["to", "be"], [["to"], ["be"]]),
        (["9f3ab21"], [["9f3ab21"]]),
        (["北京"], [["北京"]]),
        (["мир"], [["мир"]]),
    ],
)
def test_a_word_counts_in_its_singular_and_plural(tokens: list[str], forms: list[list[str]]) -> None:
    found = word_forms(tokens)
    assert len(found) == len(forms)
    for got, expected in zip(found, forms, strict=True):
        assert set(expected) <= set(got)
        assert got[0] == expected[0]


def test_a_long_query_counts_by_its_first_words() -> None:
    assert len(word_forms([f"word{number}" for number in range(500)])) == MAX_WORDS
