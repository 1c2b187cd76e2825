"""The write path: rows land, the graph follows, the same content again changes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from loom_core.errors import Conflict, Invalid
from tests.support.world import World

BILLING = ["billing service", "ledger database"]


def test_a_set_shows_at_once_in_list_and_related(world: World) -> None:
    answer = world.set(
        "k1",
        "The billing service reads the ledger database.",
        BILLING,
        [["billing service", "reads", "ledger database"]],
    )
    assert answer.degraded == []
    assert world.related("The Billing Service's") == {"ledger database": 1}
    [row] = world.list(subject="billing services")
    assert (row.relation, row.object, row.co_occur, row.adapter_name, row.provenance) == (
        "read", "ledger database", 1, "caller", "extracted",
    )  # fmt: skip


def test_the_same_content_again_is_a_noop(world: World) -> None:
    first = world.set("k1", "text", BILLING)
    again = world.set("k1", "text", BILLING)
    assert (again.noop, again.memory_id, again.version) == (True, first.memory_id, 1)
    assert world.related("billing service") == {"ledger database": 1}
    assert len(world.history("k1")) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"value": "other"},
        {"E": []},
        {"R": [["user", "use", "redis"]]},
        {"tags": ["x"]},
        {"confidence": 0.5},
        {"sensitivity": "high"},
        {"valid_at": "2025-01-01"},
    ],
)
def test_any_part_of_the_content_makes_a_new_version(world: World, change: dict) -> None:
    world.set("k1", "text")
    merged = {"value": "text"} | change
    assert not world.set("k1", **merged).noop
    assert len(world.history("k1")) == 2


def test_a_then_b_then_a_are_three_versions(world: World) -> None:
    ids = {world.set("k1", text, BILLING).memory_id for text in ("a", "b", "a")}
    assert len(ids) == 3
    assert world.related("billing service") == {"ledger database": 1}
    assert world.degrees() == {"billing service": 1, "ledger database": 1}
    world.verified()


def test_the_same_text_under_another_key_is_a_new_observation(world: World) -> None:
    for key in ("k1", "k2", "k3"):
        world.set(key, "text", BILLING)
    assert world.related("ledger database") == {"billing service": 3}


def test_twenty_racing_clients_leave_one_observation(world: World) -> None:
    for round_ in range(5):
        with ThreadPoolExecutor(20) as pool:
            ids = {
                f.memory_id
                for f in pool.map(lambda _, key=f"k{round_}": world.set(key, "text", BILLING), range(20))
            }
        assert len(ids) == 1
    assert world.related("billing service") == {"ledger database": 5}
    assert world.degrees() == {"billing service": 5, "ledger database": 5}
    world.verified()


def test_racing_servers_without_a_common_lock_leave_one_observation(world: World) -> None:
    servers = [World(world.store, world.settings, world.scope) for _ in range(6)]
    for round_ in range(5):
        with ThreadPoolExecutor(6) as pool:
            list(
                pool.map(
                    lambda server, key=f"k{round_}": server.set(
                        key, "text", BILLING, [["user", "live_in", "london"]]
                    ),
                    servers,
                )
            )
    assert world.related("billing service") == {"ledger database": 5}
    assert world.degrees() == {"billing service": 5, "ledger database": 5}
    assert world.objects() == {"london": 5}
    world.verified()


def test_racing_servers_with_different_content_leave_one_live_version(world: World) -> None:
    servers = [World(world.store, world.settings, world.scope) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        list(
            pool.map(
                lambda pair: pair[1].set("k", f"text {pair[0]}", [*BILLING, f"thing {pair[0]}x"]),
                enumerate(servers),
            )
        )
    assert [version.status for version in world.history("k")].count("live") == 1
    assert world.related("billing service")["ledger database"] == 1
    world.verified()


def test_pairs_beyond_a_hundred_are_cut_in_the_order_stated(world: World) -> None:
    names = [f"name{i:02d}x" for i in range(20)]
    world.set("k1", "text", names)
    assert world.count("entity_edges") == 100
    assert len(world.related(names[0])) == 19
    assert world.related(names[19]) == {names[i]: 1 for i in range(6)}


def test_formless_entities_are_dropped_and_named(world: World) -> None:
    answer = world.set("k1", "text", ["billing service", "it", "x" * 300])
    assert world.count("entity_edges") == 0
    assert "'it'" in answer.advisories[0]


@pytest.mark.parametrize("end", ["subject", "object"])
def test_a_relation_without_a_form_refuses_the_whole_write(world: World, end: str) -> None:
    relation = {"subject": "user", "relation": "own", "object": "kestrel"} | {end: "ﬁ" * 200}
    with pytest.raises(Invalid, match=f"relations\\[0\\].{end}"):
        world.set("k1", "text", BILLING, [relation])
    assert world.count("memory") == world.count("entity_edges") == 0


def test_one_entity_under_two_forms_makes_no_pair_with_itself(world: World) -> None:
    world.set("k1", "text", ["billing service", "Billing Services"])
    assert world.count("entity_edges") == 0
    assert world.degrees() == {}


def test_if_match_refuses_another_content(world: World) -> None:
    first = world.set("k1", "a")
    second = world.set("k1", "b", if_match_sha256=first.content_sha256)
    with pytest.raises(Conflict):
        world.set("k1", "c", if_match_sha256=first.content_sha256)
    assert world.get("k1").memory_id == second.memory_id


def test_a_dry_run_writes_nothing(world: World) -> None:
    answer = world.set("k1", "a", BILLING, dry_run=True)
    assert answer.version == 1
    assert world.count("memory") == 0


def test_update_keeps_what_it_does_not_name(world: World) -> None:
    world.set("k1", "a", BILLING, [["user", "use", "redis"]], tags=["t"], confidence=0.5)
    answer = world.update("k1", value="b")
    assert (answer.updated, answer.version) == (True, 2)
    row = world.get("k1")
    assert (row.value, row.entities, row.tags, row.confidence) == ("b", BILLING, ["t"], 0.5)
    assert world.objects(relation="use") == {"redis": 1}
    assert world.update("nothing", value="x").reason == "not_found"


def test_a_high_point_write_projects_the_pairs_of_declared_entities_only(world: World) -> None:
    world.set("k1", "secret", BILLING, [["user", "own", "kestrel"]], sensitivity="high")
    assert world.related("billing service") == {"ledger database": 1}
    assert world.list() == []


def test_a_high_bulk_entry_projects_nothing(world: World) -> None:
    world.set_many({"memory_key": "k1", "value": "secret", "entities": BILLING, "sensitivity": "high",
                    "relations": [["user", "own", "kestrel"]]})  # fmt: skip
    assert world.related("billing service") == {}
    assert world.list() == []


def test_set_many_refuses_one_and_writes_the_rest(world: World) -> None:
    answer = world.set_many(
        {"memory_key": "k1", "value": 1, "entities": BILLING},
        {"memory_key": "k2", "value": 2, "relations": [["it", "own", "kestrel"]]},
        {"memory_key": "k3"},
        {"memory_key": "k4", "value": 4, "entities": BILLING},
    )
    assert [each.memory_key for each in answer.written] == ["k1", "k4"]
    assert [each.index for each in answer.refused] == [1]  # the server adds the one that failed validation
    assert world.related("billing service") == {"ledger database": 2}
    world.verified()


def test_a_key_twice_in_one_bulk_write_makes_two_versions(world: World) -> None:
    entries = [{"memory_key": "k", "value": text, "entities": BILLING} for text in ("a", "b", "b")]
    answer = world.set_many(*entries)
    assert [(each.version, each.noop) for each in answer.written] == [(1, False), (2, False), (2, True)]
    assert world.get("k").value == "b"
    assert world.related("billing service") == {"ledger database": 1}
    world.verified()


def test_rows_without_entities_wake_the_extractor(world: World) -> None:
    world.set("k1", "text", BILLING)
    world.set("k2", "text", [])
    world.set("k3", "text", sensitivity="high")
    assert world.woken == []
    world.set("k4", "text")
    assert world.woken == ["entity_extractor"]


def test_a_row_that_names_another_supersedes_it(world: World) -> None:
    world.set("k1", "old", BILLING, [["user", "use", "redis"], ["user", "own", "kestrel"]])
    world.set("k2", "new", [], [["user", "own", "kestrel"]], supersedes=["k1"])
    assert world.objects(relation="use") == {}
    assert world.objects(relation="own") == {"kestrel": 1}
    assert world.related("billing service") == {}
    assert world.get("k1").status == "superseded"
    world.verified()
