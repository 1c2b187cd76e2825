"""Supersession through HTTP: the worked examples of slots, told in days before and after today."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.stack import HttpWorld, Stack

NOON = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
TODAY = NOON.replace(hour=0)
MICROSECOND = timedelta(microseconds=1)


def ago(days: float, hours: float = 0) -> str:
    """Midnight (UTC) of the day so many days ago, and some hours."""
    return (TODAY - timedelta(days=days) + timedelta(hours=hours)).isoformat()


def lives(
    city: str, since: str | None = None, until: str | None = None, verb: str = "live_in"
) -> dict[str, Any]:
    return {"subject": "user", "relation": verb, "object": city, "valid_from": since, "valid_to": until}


def before(instant: str) -> str:
    return (datetime.fromisoformat(instant) - MICROSECOND).isoformat()


def moment_of(space: HttpWorld, key: str) -> datetime:
    created = space.call("memory.get", memory_key=key)["created_at"]
    return datetime.fromisoformat(created)


def test_t1_the_newer_value_is_current_and_the_older_one_closes_when_it_starts(space: HttpWorld) -> None:
    space.state("k1", lives("london", ago(300)))
    space.state("k2", lives("paris", ago(200)))
    assert space.objects() == {"paris": 1}
    assert space.objects(as_of=before(ago(200))) == {"london": 1}
    assert space.objects(as_of=ago(200)) == {"paris": 1}


def test_t2_an_undated_value_starts_when_it_arrives(space: HttpWorld) -> None:
    space.state("k1", lives("london"))
    space.state("k2", lives("paris", ago(30)))
    assert space.objects() == {"london": 1}
    assert space.objects(as_of=ago(15)) == {"paris": 1}


def test_t3_on_one_day_the_later_arrival_wins_and_the_older_closes_at_the_later_start(
    space: HttpWorld,
) -> None:
    space.state("k1", lives("london", ago(30, hours=9)))
    space.state("k2", lives("paris", ago(30, hours=8)))
    assert space.objects() == {"paris": 1}
    [row] = space.call("facts.list", subject="user", object="london", as_of=ago(30, hours=9))["rows"] or [
        None
    ]
    assert row is None
    assert space.objects(as_of=ago(30, hours=8.5)) == {"paris": 1}


def test_t4_a_past_value_alone_is_current(space: HttpWorld) -> None:
    space.state("k1", lives("london", verb="lived_in"))
    assert space.objects() == {"london": 1}


def test_t5_a_rows_date_is_not_the_values_own(space: HttpWorld) -> None:
    space.state("k1", lives("london", verb="lived_in"), valid_at=ago(20))
    space.state("k2", lives("paris", ago(30)))
    assert space.objects() == {"paris": 1}


@pytest.mark.parametrize("reverse", [False, True])
def test_within_one_write_a_past_undated_value_is_older_than_a_dated_one(
    space: HttpWorld, reverse: bool
) -> None:
    """B23."""
    relations = [lives("london", verb="lived_in"), lives("paris", ago(60))]
    space.state("k1", *(reversed(relations) if reverse else relations))
    assert space.objects() == {"paris": 1}


def test_t6_within_one_write_the_later_stated_is_newer(space: HttpWorld) -> None:
    space.state("k1", lives("london"), lives("paris"))
    assert space.objects() == {"paris": 1}


def test_t7_a_value_that_ended_leaves_none(space: HttpWorld) -> None:
    space.state("k1", lives("london", ago(300)))
    space.state("k2", lives("paris", ago(60), ago(10)))
    assert space.objects(as_of=ago(30)) == {"paris": 1}
    assert space.objects() == {}


def test_t8_a_value_with_its_own_end_stays_beside_the_newer_one(space: HttpWorld) -> None:
    """B20: a stated end is never cut early."""
    space.state("k1", lives("london", ago(90), ago(10)))
    space.state("k2", lives("london", ago(75)))
    space.state("k3", lives("paris", ago(45)))
    assert space.objects(as_of=ago(30)) == {"london": 1, "paris": 1}
    assert space.objects() == {"paris": 1}


def test_t9_a_value_stated_again_holds_again(space: HttpWorld) -> None:
    for key, city, days in (("k1", "london", 300), ("k2", "paris", 200), ("k3", "london", 100)):
        space.state(key, lives(city, ago(days)))
    assert space.objects() == {"london": 2}
    assert space.objects(as_of=ago(150)) == {"paris": 1}
    assert space.objects(as_of=ago(250)) == {"london": 1}


def test_t10_a_value_is_judged_at_its_newest_row(space: HttpWorld) -> None:
    """B22."""
    for key, city, days in (("k1", "london", 15), ("k2", "paris", 16), ("k3", "london", 17)):
        space.state(key, lives(city, ago(days)))
    assert space.objects() == {"london": 2}
    assert space.objects(as_of=ago(16, hours=12)) == {"paris": 1}
    assert space.objects(as_of=ago(17, hours=12)) == {"london": 1}


def test_t11_a_new_version_that_says_nothing_of_the_slot_gives_it_back(space: HttpWorld) -> None:
    space.state("k0", lives("oslo", ago(300)))
    space.state("k1", lives("london", ago(200)))
    space.set("k1", "nothing of it", [])
    assert space.objects() == {"oslo": 1}
    assert space.objects(as_of=ago(100)) == {"london": 1}


def test_t12_a_new_version_replaces_what_the_old_one_said(space: HttpWorld) -> None:
    space.state("k1", lives("london", ago(100)))
    space.state("k1", lives("paris", ago(200)))
    assert space.objects() == {"paris": 1}


@pytest.mark.parametrize("op", ["memory.delete", "memory.erase"])
def test_t13_what_a_removed_row_had_closed_holds_again(space: HttpWorld, op: str) -> None:
    space.state("k1", lives("london", ago(300)))
    space.state("k2", lives("paris", ago(200)))
    space.call(op, memory_key="k2")
    assert space.objects() == {"london": 1}
    assert space.objects(as_of=ago(100)) == ({"paris": 1} if op == "memory.delete" else {"london": 1})


def test_t15_a_value_stated_after_the_undo_wins(space: HttpWorld) -> None:
    space.state("k1", lives("london", ago(40)))
    space.state("k2", lives("paris", ago(36)))
    space.restore("k1", version=1)
    assert space.objects() == {"london": 1}
    space.state("k3", lives("paris", ago(40)))
    assert set(space.objects()) == {"paris"}


def test_t16_an_undo_lifts_an_end_that_has_passed(space: HttpWorld) -> None:
    space.state("k1", lives("london", ago(300), ago(10)))
    space.state("k2", lives("paris", ago(60)))
    assert space.objects() == {"paris": 1}
    space.restore("k1", version=1)
    assert space.objects() == {"london": 1}


def test_t17_an_undo_makes_the_value_current_from_then_on_and_both_rows_stay_live(space: HttpWorld) -> None:
    space.state("k1", lives("london", ago(300)))
    space.state("k2", lives("paris", ago(200)))
    earlier = datetime.now(UTC).isoformat()
    assert space.restore("k1", version=1)["restored"] is True
    assert space.objects() == {"london": 1}
    assert space.objects(as_of=earlier) == {"paris": 1}
    assert {space.call("memory.get", memory_key=key)["status"] for key in ("k1", "k2")} == {"live"}


def test_t18_a_value_that_starts_later_waits_for_its_start(space: HttpWorld) -> None:
    space.state("k1", lives("london", ago(300)))
    assert space.restore("k1", version=1)["restored"] is False
    space.state("k2", lives("berlin", ago(-10)))
    assert space.objects() == {"london": 1}
    assert space.objects(as_of=ago(-10)) == {"berlin": 1}


def test_t19_cardinality_can_change_in_both_directions_also_for_the_past(space: HttpWorld) -> None:
    def cardinality(value: str) -> None:
        space.call("namespace.register_ontology", relations=[{"name": "live_in", "cardinality": value}])

    cardinality("many")
    space.state("k1", lives("london", ago(300)))
    space.state("k2", lives("paris", ago(200)))
    assert space.objects() == {"london": 1, "paris": 1}
    cardinality("one")
    assert space.objects() == {"paris": 1}
    cardinality("many")
    assert space.objects() == {"london": 1, "paris": 1}


def test_t20_an_erased_row_never_closed_anything(space: HttpWorld) -> None:
    for key, city, days in (("k1", "london", 300), ("k2", "paris", 200), ("k3", "rome", 100)):
        space.state(key, lives(city, ago(days)))
    space.call("memory.erase", memory_key="k2")
    assert space.objects() == {"rome": 1}
    assert space.objects(as_of=ago(150)) == {"london": 1}


def test_t21_undoing_back_and_forth_adds_no_weight(space: HttpWorld) -> None:
    """B32, in both shapes: two keys, and two versions of one key."""
    space.state("k1", lives("london", ago(300)))
    space.state("k2", lives("paris", ago(200)))
    for _ in range(5):
        space.restore("k1", version=1)
        assert space.objects() == {"london": 1}
        space.restore("k2", version=1)
        assert space.objects() == {"paris": 1}
    other = HttpWorld(space.url, space.name + "b")
    other.state("k", lives("london"))
    other.state("k", lives("paris"))
    for _ in range(5):
        other.restore("k")
        assert other.objects() == {"london": 1}
        other.restore("k")
        assert other.objects() == {"paris": 1}
    assert len(other.call("memory.history", memory_key="k")["versions"]) == 2


def test_b32_each_step_of_an_undo_stays_readable(space: HttpWorld) -> None:
    """B32: `as_of` between any two restores; both rows live; a value dated on a later day still wins."""
    space.state("k1", lives("london", ago(300)))
    space.state("k2", lives("paris", ago(200)))
    steps = [(datetime.now(UTC).isoformat(), "paris")]
    for key, city in (("k1", "london"), ("k2", "paris"), ("k1", "london"), ("k2", "paris")):
        space.restore(key, version=1)
        steps.append((datetime.now(UTC).isoformat(), city))
    for instant, city in steps:
        assert space.objects(as_of=instant) == {city: 1}
    assert space.objects(as_of=ago(250)) == {"london": 1}
    assert {space.call("memory.get", memory_key=key)["status"] for key in ("k1", "k2")} == {"live"}
    space.state("k3", lives("berlin", ago(-3)))
    assert space.objects() == {"paris": 1}
    assert space.objects(as_of=ago(-2)) == {"paris": 1}
    assert space.objects(as_of=ago(-3)) == {"berlin": 1}


def test_b29_projecting_a_closed_row_again_leaves_its_end_where_it_was(
    space: HttpWorld, stack: Stack
) -> None:
    space.state("k1", lives("london", ago(300)))
    space.state("k2", lives("paris", ago(200)))

    def closed() -> tuple[str, str]:
        [row] = space.call("facts.list", subject="user", object="london", as_of=ago(250))["rows"]
        return row["valid_from"], row["invalid_at"]

    before_replay = closed()
    assert datetime.fromisoformat(before_replay[1]) == datetime.fromisoformat(ago(200))
    for command in (["projections", "--key", "k1"], ["projections"], ["closes"]):
        done = stack.loom("replay", *command, "--org", "dev", "--namespace", space.name)
        assert done.returncode == 0, done.stderr
    assert closed() == before_replay
    assert space.objects() == {"paris": 1}


def test_b15_a_memory_that_mentions_a_person_closes_nothing(space: HttpWorld) -> None:
    space.state("k1", {"subject": "user", "relation": "work_at", "object": "acme", "valid_from": ago(300)})
    space.state(
        "k2", {"subject": "user", "relation": "administer", "object": "code host org", "valid_from": ago(200)}
    )
    assert space.objects(relation="work_at") == {"acme": 1}
    assert space.objects(relation="administer") == {"code host org": 1}


def test_b16_many_values_stay_open(space: HttpWorld) -> None:
    space.state("k1", ["bench", "test_with", "model a x"])
    space.state("k2", ["bench", "test_with", "model b x"])
    assert len(space.objects("bench", "test_with")) == 2


def test_b25_a_read_of_the_past_returns_nothing_from_later(space: HttpWorld) -> None:
    space.set("k1", "a", ["alpha", "beta"], [["alpha", "use", "beta"]], valid_at="2024-01-01")
    space.set("k2", "b", ["alpha", "gamma"], [["alpha", "use", "gamma"]], valid_at="2025-01-01")
    at = "2024-06-01T00:00:00Z"
    assert space.objects("alpha", "use", as_of=at) == {"beta": 1}
    assert space.related("alpha", as_of=at) == {"beta": 1}
    walk = space.call("facts.traverse", seed_entity="alpha", as_of=at)
    assert [node["entity"] for node in walk["nodes"]] == ["beta"]
    assert space.call("facts.path", entity_a="alpha", entity_b="gamma", as_of=at)["found"] is False


def test_b27_only_the_open_one_of_ten_successive_values_is_read(space: HttpWorld) -> None:
    for number in range(10):
        space.state("k" + str(number), {"subject": "user", "relation": "work_at", "object": f"firm {number}x",
                                        "valid_from": ago(100 - number)})  # fmt: skip
    walk = space.call("facts.traverse", seed_entity="user", labeled=True)
    assert [node["entity"] for node in walk["nodes"]] == ["firm 9x"]
    assert list(space.related("user")) == ["firm 9x"]


def test_a_year_that_cannot_be_stored_is_refused(space: HttpWorld) -> None:
    for year in ("0001-01-01", "9999-12-31"):
        assert space.post("memory.set", memory_key="k", value="v", valid_at=year).status_code == 422
    answer = space.post("memory.set", memory_key="k", value="v", relations=[lives("london", ago(1), ago(2))])
    assert answer.status_code == 422 and "valid_to" in answer.text
    assert space.call("memory.get", memory_key="k")["found"] is False


def test_a_restore_of_nothing_is_told_apart(space: HttpWorld) -> None:
    assert space.post("memory.restore", memory_key="never").status_code == 404
    space.state("k", lives("london"))
    assert space.post("memory.restore", memory_key="k").status_code == 409
    space.call("memory.erase", memory_key="k")
    assert space.post("memory.restore", memory_key="k", version=1).status_code == 404
