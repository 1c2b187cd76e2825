"""Whether an entity occurs in a text (D24)."""

from __future__ import annotations

import pytest

from loom_core.graph.provenance import Grounding


def as_it_is(entity: str) -> tuple[str, ...]:
    return ()


@pytest.mark.parametrize(
    ("text", "entity", "occurs"),
    [
        ("The Billing Service reads invoices.", "billing service", True),
        ("the billing\n  service", "billing service", True),
        ("The Billing Service's owner", "billing service", True),
        ("(billing service)", "billing service", True),
        ("billing services", "billing service", False),
        ("rebilling service", "billing service", False),
        ("my_acme_corp", "acme", False),
        ("Acme acquired it", "acme", True),
        ("pacmen met Acme", "acme", True),
        ("ﬁx the oﬃce", "office", True),
        ("STRASSE", "straße", True),
        ("I use C++17 daily", "c++", True),
        ("C# and F#", "c#", True),
        ("", "acme", False),
        ("acme", "", False),
        ("我住在北京市", "北京", True),
        ("在acme工作", "acme", True),
        ("東京にいる", "北京", False),
    ],
)
def test_an_entity_occurs_at_word_boundaries_whatever_its_case(text: str, entity: str, occurs: bool) -> None:
    assert Grounding(text, as_it_is).occurs(entity) is occurs


@pytest.mark.parametrize(
    ("text", "occurs"),
    [
        ("I moved to London", True),
        ("London suits me.", True),
        ("My flat is in London", True),
        ("That flat is mine", True),
        ("I’m in London", True),
        ("I did it myself", True),
        ("The user moved", True),
        ("Anna moved to London", False),
        ("it works, i.e. it runs", False),
        ("in time, mining", False),
    ],
)
def test_the_user_occurs_by_name_or_in_the_first_person(text: str, occurs: bool) -> None:
    assert Grounding(text, as_it_is).occurs("user") is occurs


def test_a_surface_form_counts_as_its_entity() -> None:
    grounding = Grounding("It reads invoices.", lambda entity: (entity, f"{entity}s"))
    assert grounding.occurs("invoice")
    assert not grounding.occurs("ledger")


def test_a_triple_is_extracted_only_when_both_its_ends_occur() -> None:
    grounding = Grounding("Anna works at Acme.", as_it_is)
    assert grounding.provenance("anna", "acme") == "extracted"
    assert grounding.provenance("anna", "globex") == "inferred"
    assert grounding.provenance("user", "acme") == "inferred"
