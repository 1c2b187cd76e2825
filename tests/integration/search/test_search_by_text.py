from __future__ import annotations

from typing import Any

import pytest

from tests.support.loom import Loom


def keys(hits: list[Any]) -> list[str]:
    return [hit.memory_key for hit in hits]


def test_rows_with_the_querys_words_are_found_whatever_their_case(loom: Loom) -> None:
    loom.set("k1", "The Billing Service reads invoices.")
    loom.set("k2", "Nothing of the kind.")
    (hit,) = loom.search("BILLING invoices")
    assert (hit.memory_key, hit.value, hit.via) == ("k1", "The Billing Service reads invoices.", "text")


def test_a_rare_word_weighs_more_than_a_common_one(loom: Loom) -> None:
    for number in range(5):
        loom.set(f"common-{number}", f"ledger entry {number}")
    loom.set("rare", "kestrel")
    assert keys(loom.search("ledger kestrel"))[0] == "rare"


def test_more_of_the_words_score_higher_then_the_newer_row_comes_first(loom: Loom) -> None:
    loom.set("old", "alpha ledger")
    loom.set("new", "alpha ledger again")
    loom.set("both", "alpha ledger kestrel")
    assert keys(loom.search("alpha kestrel")) == ["both", "new", "old"]


@pytest.mark.parametrize(
    ("said", "asked"), [("the billing services", "billing service"), ("one box", "boxes")]
)
def test_singular_and_plural_find_each_other(loom: Loom, said: str, asked: str) -> None:
    loom.set("k1", said)
    assert keys(loom.search(asked)) == ["k1"]


@pytest.mark.parametrize(
    ("value", "query"),
    [
        ("東京タワーへ行く", "東京タワー"),
        ("北京 release plan", "北京"),
        ("한국어 서비스", "서비스"),
        ("Привет, мир", "мир"),
        ("error:Timeouts in parse_config()", "timeouts"),
        ({"note": {"deep": ["first line\nsecond line"]}}, "second"),
        ({"note": "caf\u00e9"}, "CAF\u00c9"),
        ("ﬁne print", "fine"),
    ],
)
def test_words_are_found_in_any_script_and_shape_of_value(loom: Loom, value: object, query: str) -> None:
    loom.set("k1", value)
    assert keys(loom.search(query)) == ["k1"]


@pytest.mark.parametrize("query", ["", "?!", "unheard", "' OR 1=1 --", "{query:String}", "\\"])
def test_a_query_without_a_known_word_finds_nothing(loom: Loom, query: str) -> None:
    loom.set("k1", "billing service")
    assert loom.search(query) == []


def test_a_query_of_nothing_but_common_words_still_counts_them(loom: Loom) -> None:
    loom.set("k1", "to be or not to be")
    assert keys(loom.search("to be")) == ["k1"]


def test_only_the_current_version_is_found(loom: Loom) -> None:
    first = loom.set("k1", "kestrel")
    loom.set("k1", "falcon")
    assert loom.search("kestrel") == []
    assert keys(loom.search("falcon")) == ["k1"]
    loom.restore(first)
    assert keys(loom.search("kestrel")) == ["k1"]
    assert loom.search("falcon") == []


def test_a_deleted_row_and_one_that_another_superseded_are_not_found(loom: Loom) -> None:
    loom.set("gone", "kestrel one")
    loom.set("replaced", "kestrel two")
    loom.delete("gone")
    loom.set("new", "kestrel three", supersedes=["replaced"])
    assert keys(loom.search("kestrel")) == ["new"]


def test_superseded_versions_never_crowd_out_live_rows(loom: Loom) -> None:
    loom.set("quiet", "kestrel")
    loom.set_many(*(("busy", f"kestrel {number}", ()) for number in range(60)))
    loom.delete("busy")
    assert keys(loom.search("kestrel", limit=1)) == ["quiet"]


def test_b80_a_high_row_is_never_found_by_its_text(loom: Loom) -> None:
    loom.set("secret", "the kestrel password", sensitivity="high")
    loom.set("turned", "a kestrel")
    loom.set("turned", "a kestrel", sensitivity="high")
    assert loom.search("kestrel password") == []


def test_entity_filter_lifts_rows_about_the_entity(loom: Loom) -> None:
    loom.set("about", "deploy notes", "billing service", "deploy")
    loom.set("newer", "deploy notes")
    assert keys(loom.search("deploy notes")) == ["newer", "about"]
    assert keys(loom.search("deploy notes", entity_filter=["The Billing Services"])) == ["about", "newer"]
    assert keys(loom.search("deploy notes", entity_filter=["x" * 257, "they"])) == ["newer", "about"]


def test_limit_cuts(loom: Loom) -> None:
    for number in range(4):
        loom.set(f"k{number}", "kestrel")
    assert keys(loom.search("kestrel", limit=2)) == ["k3", "k2"]


def test_another_tenants_rows_are_not_found(loom: Loom, other_tenant: Loom) -> None:
    other_tenant.set("k1", "kestrel")
    assert loom.search("kestrel") == []
