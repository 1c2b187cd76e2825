"""What becomes one node and what does not, told by what a reader gets."""

from __future__ import annotations

from tests.support.stack import HttpWorld, Stack


def test_the_same_acronym_in_five_memories_is_one_node(space: HttpWorld) -> None:
    """B01."""
    for number in range(1, 6):
        space.set(f"k{number}", f"QZRT reads the ledger database, {number}", ["QZRT", "ledger database"])
    assert space.related("qzrt") == {"ledger database": 5}
    nodes = space.call("namespace.taxonomy")["entities"]
    assert sorted((node["entity"], node["degree"]) for node in nodes) == [("ledger database", 5), ("qzrt", 5)]


def test_names_in_another_script_stay_apart_and_their_spacing_does_not_part_them(space: HttpWorld) -> None:
    """B02."""
    space.set("k1", "a", ["北京 release plan", "alpha service"])
    space.set("k2", "b", ["東京 release plan", "beta service"])
    space.set("k3", "c", ["北京\u3000 release  plans", "gamma service"])
    assert set(space.walk("北京 release plan", max_hops=4)) == {"alpha service", "gamma service"}
    assert set(space.walk("東京 release plan", max_hops=4)) == {"beta service"}


def test_case_makes_no_node_of_its_own_and_only_an_alias_joins_two_spellings(
    space: HttpWorld, stack: Stack
) -> None:
    """B06."""
    for number, name in enumerate(("System Admin", "system admin", "SystemAdmin")):
        space.set(f"k{number}", name, [name, "audit log"])
    assert space.related("audit log") == {"system admin": 2, "systemadmin": 1}
    assert space.related("SYSTEM admin") == {"audit log": 2}
    assert space.related("SystemAdmin") == {"audit log": 1}

    made = space.call("namespace.alias", alias="SystemAdmin", entity="System Admins")
    assert (made["alias"], made["entity"]) == ("systemadmin", "system admin")
    space.set("k3", "after the alias", ["SystemAdmin", "pager rota"])
    assert space.related("pager rota") == {"system admin": 1}
    moved = stack.loom("graph", "recanonicalise", "--org", "dev", "--namespace", space.name)
    assert moved.returncode == 0, moved.stderr
    assert space.related("audit log") == {"system admin": 3}
    assert space.related("SystemAdmin") == {"audit log": 3, "pager rota": 1}


def test_a_fact_stated_twice_is_one_triple_that_keeps_both_sources(space: HttpWorld) -> None:
    """B10."""
    for key, confidence in (("k1", 0.9), ("k2", 0.4)):
        space.state(
            key, {"subject": "user", "relation": "work_at", "object": "acme", "confidence": confidence}
        )
    [row] = space.call("facts.list", subject="user", include_sources=True)["rows"]
    assert (row["relation"], row["object"], row["co_occur"]) == ("work_at", "acme", 2)
    assert row["confidence"] == 0.9
    assert sorted(row["sources"]) == ["k1", "k2"]


def test_two_spellings_of_one_entity_make_no_edge_to_itself(space: HttpWorld, stack: Stack) -> None:
    """B12."""
    space.set("k", "only one thing", ["billing service", "Billing Services"])
    assert space.related("billing service") == {}
    assert space.walk("billing service", max_hops=4) == {}
    space.set("k2", "beside it", ["billing service", "ledger database"])
    assert {e["entity"]: e["degree"] for e in space.call("namespace.taxonomy")["entities"]} == {
        "billing service": 1,
        "ledger database": 1,
    }
    verified = stack.loom("verify", "--org", "dev", "--namespace", space.name)
    assert verified.returncode == 0, verified.stdout


def test_a_name_that_is_too_long_is_dropped_from_a_memory_and_refused_in_a_fact(space: HttpWorld) -> None:
    """B81: as written, and as it grows under NFKC."""
    kept, over, grows = "x" * 256, "x" * 257, "\ufb01" * 200
    for number, name in enumerate((kept, over, grows)):
        answer = space.set(f"k{number}", "text", [name, "audit log"])
        assert any("entities" in line for line in answer["advisories"]) == (name != kept)
    assert space.related("audit log") == {kept: 1}
    for name in (over, grows):
        for relation in ([name, "own", "kestrel"], ["user", "own", name]):
            refused = space.post("memory.set", memory_key="refused", value="text", relations=[relation])
            assert refused.status_code == 422
            assert "relations[0]" in refused.json()["detail"]["message"]
    assert space.call("memory.get", memory_key="refused")["found"] is False
    assert space.call("facts.list")["rows"] == []

    def boosted(name: str) -> dict[str, float]:
        hits = space.call("memory.search", query="text", entity_filter=[name])["hits"]
        return {hit["memory_key"]: hit["score"] for hit in hits}

    assert boosted(kept)["k0"] > boosted(kept)["k1"]
    for name in (over, grows):
        assert len(set(boosted(name).values())) == 1, "a filter that is cut names nothing"
