from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loom_core.settings import Settings
from tests.support.loom import Loom


def found(hits: list[Any]) -> dict[str, str]:
    return {hit.memory_key: hit.via for hit in hits}


def graph(loom: Loom, query: str, **fields: Any) -> list[Any]:
    return loom.search(query, search_mode="graph", **fields)


@pytest.fixture
def billing(loom: Loom) -> Loom:
    loom.set("own", "reads invoices", "billing service", "ledger database")
    loom.set("hop", "failed over", "ledger database", "ledger outage")
    loom.set("two hops", "post mortem", "ledger outage", "incident review")
    loom.set("elsewhere", "about the billing service in words only")
    return loom


def test_hits_are_one_hop_from_the_querys_entities(billing: Loom) -> None:
    hits = graph(billing, "what is connected to the Billing Service's backend?")
    assert found(hits) == {"own": "entity", "hop": "co_occur"}
    assert hits[0].memory_key == "own"
    assert hits[0].value == "reads invoices"


def test_a_triple_leads_one_hop_on(loom: Loom) -> None:
    loom.set("k1", "x", relations=[["billing service", "depends_on", "redis cluster"]])
    loom.set("k2", "tuning notes", "redis cluster")
    assert found(graph(loom, "billing service"))["k2"] == "triple"


@pytest.mark.parametrize("outwards", [True, False])
def test_a_link_leads_one_hop_on_in_either_direction(loom: Loom, outwards: bool) -> None:
    loom.set("about", "x", "billing service")
    loom.set("linked", "no entity at all")
    loom.link(*(("about", "linked") if outwards else ("linked", "about")))
    assert found(graph(loom, "billing service")) == {"about": "entity", "linked": "link"}


def test_a_hub_is_not_looked_behind(loom: Loom) -> None:
    loom.set("own", "x", "billing service", "user")
    loom.set_many(*((f"k{number}", "x", ("user", f"topic {number}")) for number in range(120)))
    assert found(graph(loom, "billing service", limit=100)) == {"own": "entity"}


def test_the_longest_name_counts_and_not_the_names_inside_it(loom: Loom) -> None:
    loom.set("long", "x", "billing service database")
    loom.set("short", "x", "database")
    assert found(graph(loom, "the billing service databases")) == {"long": "entity"}
    assert found(graph(loom, "database")) == {"short": "entity"}


@pytest.mark.parametrize(
    ("entity", "query"),
    [
        ("error:Timeouts", "why so many error:Timeouts?"),
        ("commit:9f3ab21", "what broke in commit:9f3ab21"),
        ("北京 release plan", "北京 release plan?"),
        ("東京タワー", "東京タワーへ行く"),
        ("O'Brien", "what did O'Brien say"),
    ],
)
def test_names_are_read_out_of_a_sentence(loom: Loom, entity: str, query: str) -> None:
    loom.set("k1", "x", entity)
    assert found(graph(loom, query)) == {"k1": "entity"}


def test_seeds_may_come_from_text_hits_too(billing: Loom) -> None:
    billing.set("text", "quarterly kestrel numbers", "incident review", "kestrel report")
    assert graph(billing, "quarterly numbers") == []
    with_hits = replace(billing, settings=Settings(memory_search_graph_seed="hits"))
    hits = found(graph(with_hits, "quarterly numbers"))
    assert hits == {"text": "entity", "two hops": "entity", "hop": "co_occur"}


def test_b80_a_high_row_shows_its_key_and_never_its_text(loom: Loom) -> None:
    loom.set("secret", "the password", "alpha service", "beta service", sensitivity="high")
    (hit,) = graph(loom, "alpha service")
    assert (hit.memory_key, hit.value) == ("secret", None)
    (row,) = loom.timeline("alpha service").rows
    assert row.value is None


def test_only_live_versions_are_hits(billing: Loom) -> None:
    billing.delete("own")
    billing.set("hop", "nothing of it any more", "other thing")
    assert graph(billing, "billing service") == []


def test_the_querys_name_follows_aliases(loom: Loom, store: Any) -> None:
    loom.set("k1", "x", "billing service", "ledger")
    columns = ("org", "namespace", "alias", "entity", "event_id", "at")
    store.insert(
        "entity_aliases", columns, [[*loom.names().values(), "bill thing", "billing service", "e1", 1]]
    )
    assert found(graph(loom, "bill things")) == {"k1": "entity"}


def test_the_same_call_gives_the_same_answer(billing: Loom) -> None:
    for number in range(8):
        billing.set(f"same-{number}", "x", "ledger database", f"thing {number}")
    assert graph(billing, "ledger database") == graph(billing, "ledger database")


def test_another_tenants_graph_is_not_searched(billing: Loom, other_tenant: Loom) -> None:
    assert graph(other_tenant, "billing service") == []
