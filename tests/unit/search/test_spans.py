from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_core.search.mentions import CHARS_A_NAME, WORDS_A_NAME, spans


def texts(query: str) -> list[str]:
    return [span.text for span in spans(query)]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("what is connected to the billing service?", "billing service"),
        ("(error:Timeouts), again", "error:Timeouts"),
        ("did “O'Brien” say so", "O'Brien"),
        ("東京タワーへ行く", "東京タワー"),
        ("parse_config() failed", "parse_config"),
    ],
)
def test_a_name_in_a_sentence_is_among_the_spans(query: str, name: str) -> None:
    assert name in texts(query)


@given(st.text(max_size=200))
def test_a_span_is_a_piece_of_the_query_of_bounded_length(query: str) -> None:
    for span in spans(query):
        assert query[span.start : span.end] == span.text
        assert len(span.text.split()) <= WORDS_A_NAME or len(span.text) <= CHARS_A_NAME


def test_a_text_as_a_query_makes_a_bounded_number_of_spans() -> None:
    assert len(texts("word " * 10_000)) <= 1_200
    assert len(texts("京" * 10_000)) <= 2_100
