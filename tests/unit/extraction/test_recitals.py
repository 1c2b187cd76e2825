"""An assistant's turn that recites a memory adds no weight to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_core.extraction.outcomes import Source
from loom_core.extraction.recitals import novel_text, without_recitals

KNOWN = ("I live in Berlin.", "The billing service reads invoices from the ledger database.")


@pytest.mark.parametrize(
    ("text", "novel"),
    [
        ("You live in Berlin.", ""),
        ("As you told me, you live in Berlin. The train leaves at nine.", "As you told me, you live in Berlin. The train leaves at nine."),
        ("You currently live in Berlin. Kestrel ships on Friday.", " Kestrel ships on Friday."),
        ("Sure: the billing service reads invoices from the ledger database!", ""),
        ("The billing service reads invoices.", ""),
        ("The billing service writes invoices to the archive.", "The billing service writes invoices to the archive."),
        ("Yes.", "Yes."),
        ("Berlin it is.", "Berlin it is."),
    ],
)  # fmt: skip
def test_recited_sentences_go_and_the_rest_stays(text, novel):
    assert novel_text(text, KNOWN) == novel


def test_only_an_assistants_turn_is_cut():
    for role in ("user", None):
        source = Source("I live in Berlin.", role=role, known_memories=KNOWN)
        assert without_recitals(source) is source
    assert without_recitals(Source("You live in Berlin.", role="assistant", known_memories=KNOWN)).text == ""


@given(st.text(max_size=200))
def test_without_known_memories_nothing_is_lost(text):
    assert novel_text(text, ()) == text


@given(st.lists(st.sampled_from(["Anna", "works", "at", "Acme", ".", "you", "\n"]), max_size=30))
def test_cutting_twice_cuts_no_more(words):
    text = " ".join(words)
    once = novel_text(text, ("Anna works at Acme",))
    assert novel_text(once, ("Anna works at Acme",)) == once
