"""Each sentence of the page's "Supersession closes triples", as a test of the rules."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import pytest

from loom_core.graph.ontology import Cardinality
from loom_core.graph.slots import values_current
from tests.support.histories import History, Says, at

LATER = "2025-12-31"
DAWN = "2025-10-01T08:00"


def before(text: str) -> int:
    instant = at(text)
    assert instant is not None
    return instant - 1


def test_a_superseding_row_closes_the_open_triples_it_does_not_attest() -> None:
    history = History()
    history.set("k1", Says("tea", "2025-01-01"), Says("coffee", "2025-01-01"), arrives="2025-01-02")
    history.set("k1", Says("coffee"), arrives="2025-06-01")
    derived = history.derive("many")
    assert derived["k1.1", "tea"] == ((at("2025-01-01"), None, at("2025-06-01")),)
    assert derived["k1.2", "coffee"] == ((at("2025-01-01"), None, None),)


def test_a_row_that_names_a_key_closes_what_that_key_said_and_the_named_row_is_not_live() -> None:
    history = History()
    history.set("k1", Says("tea", "2025-01-01"), arrives="2025-01-02")
    history.set(
        "k2", Says("coffee", "2025-01-01"), arrives="2025-06-02", valid_at="2025-06-01", supersedes=["k1"]
    )
    assert history.derive("many")["k1.1", "tea"] == ((at("2025-01-01"), None, at("2025-06-01")),)
    lives = history.lives()
    assert lives["k1.1"].status == "superseded" and lives["k2.1"].live


def test_the_older_value_closes_when_the_newer_starts() -> None:
    history = History()
    history.set("k1", Says("london", "2025-01-01"), arrives="2025-01-02")
    history.set("k2", Says("paris", "2025-03-01"), arrives="2025-09-02")
    assert history.derive()["k1.1", "london"] == ((at("2025-01-01"), None, at("2025-03-01")),)
    assert history.derive()["k2.1", "paris"] == ((at("2025-03-01"), None, None),)


def stated_again_under_another_key(history: History) -> None:
    history.set("k3", Says("london"), arrives="2025-10-01T08:00:00.000002")


def stated_again_under_the_same_key(history: History) -> None:
    history.set("k1", Says("london"), arrives="2025-10-01T08:00:00.000002")


@pytest.mark.parametrize("again", [stated_again_under_another_key, stated_again_under_the_same_key])
def test_a_write_that_states_the_older_value_again_while_that_close_runs_keeps_it_open(
    again: Callable[[History], None],
) -> None:
    history = History()
    history.set("k1", Says("london"), arrives=DAWN)
    history.set("k2", Says("paris"), arrives="2025-10-01T08:00:00.000001")
    again(history)
    assert set(history.values(LATER)) == {"london"}
    # Whoever projects last, and whatever it had seen when it began, derives from the same rows.
    for rows in permutations(history.rows):
        assert History(list(rows)).derive() == history.derive()


@pytest.mark.parametrize(
    ("first", "second", "current"),
    [
        (Says("london", "2025-10-01"), Says("paris", "2025-10-01"), "paris"),
        (Says("london", "2025-10-01T23:59"), Says("paris", "2025-10-01T00:01"), "paris"),
        (Says("london", "2025-10-02"), Says("paris", "2025-10-01"), "london"),
        (Says("london"), Says("paris"), "paris"),
        (Says("london"), Says("paris", "2025-09-30"), "london"),
    ],
)
def test_values_order_by_the_day_they_start_then_by_arrival_to_the_microsecond(
    first: Says, second: Says, current: str
) -> None:
    history = History()
    history.set("k1", first, arrives=DAWN)
    history.set("k2", second, arrives="2025-10-01T08:00:00.000001")
    assert history.values(LATER) == {current: 1}
    assert History(history.rows[::-1]).derive() == history.derive()


def test_racing_writers_of_one_instant_agree_by_the_rows_ids() -> None:
    history = History()
    history.set("k1", Says("london"), arrives=DAWN, memory_id="b")
    history.set("k2", Says("paris"), arrives=DAWN, memory_id="a")
    assert history.values(LATER) == {"london": 1}


def test_the_day_a_value_starts_is_the_utc_day() -> None:
    history = History()
    history.set("k1", Says("london", "2025-10-02T01:00+03:00"), arrives="2025-10-03")  # Oct 1, 22:00 UTC
    history.set("k2", Says("paris", "2025-10-01T09:00"), arrives="2025-10-04")
    assert history.values(LATER) == {"paris": 1}


@pytest.mark.parametrize("order", [("london", "paris"), ("paris", "london")])
def test_within_one_write_the_later_stated_value_is_newer(order: tuple[str, str]) -> None:
    history = History()
    history.set("k1", *map(Says, order), arrives=DAWN)
    assert history.values(LATER) == {order[1]: 1}


@pytest.mark.parametrize("reverse", [False, True])
def test_within_one_write_an_undated_past_value_is_older_than_a_dated_one(reverse: bool) -> None:
    said = [Says("london", past=True), Says("paris", "2025-10-01")]
    history = History()
    history.set("k1", *(reversed(said) if reverse else said), arrives="2025-11-01")
    assert history.values(LATER) == {"paris": 1}


def test_a_past_value_with_a_date_of_its_own_ranks_by_it() -> None:
    history = History()
    history.set("k1", Says("london", "2025-10-05", past=True), arrives="2025-11-01")
    history.set("k2", Says("paris", "2025-10-01"), arrives="2025-11-02")
    assert history.values(LATER) == {"london": 1}


def test_a_past_value_that_had_ended_before_it_was_told_closes_nothing() -> None:
    history = History()
    history.set("k1", Says("paris", "2025-01-01"), arrives="2025-01-02")
    history.set("k2", Says("london", until="2020-03-01"), arrives="2025-11-01")
    assert history.values(LATER) == {"paris": 1}
    assert history.derive()["k2.1", "london"] == ((at("2025-11-01"), at("2020-03-01"), None),)


def test_a_value_is_judged_at_its_newest_row_not_at_the_last_to_arrive() -> None:
    history = History()
    for key, value, day in (("k1", "london", 15), ("k2", "paris", 14), ("k3", "london", 13)):
        history.set(key, Says(value, f"2025-10-{day}"), arrives=f"2025-11-{30 - day}")
    assert set(history.values(LATER)) == {"london"}


@pytest.mark.parametrize("dated", ["statement", "row"])
def test_a_value_with_its_own_end_is_never_closed_early(dated: str) -> None:
    history = History()
    until = "2025-12-01"
    history.set(
        "k1",
        Says("london", "2025-09-01", until if dated == "statement" else None),
        arrives="2025-09-02",
        valid_to=until if dated == "row" else None,
    )
    history.set("k2", Says("paris", "2025-10-15"), arrives="2025-10-16")
    assert history.values("2025-11-01") == {"london": 1, "paris": 1}
    assert history.values(before(until)) == {"london": 1, "paris": 1}
    assert history.values(until) == {"paris": 1}


def test_a_retirement_ends_even_a_value_with_its_own_end() -> None:
    history = History()
    history.set("k1", Says("london", "2025-09-01", "2025-12-01"), arrives="2025-09-02")
    history.delete("k1", "2025-10-01")
    assert history.derive()["k1.1", "london"] == ((at("2025-09-01"), at("2025-12-01"), at("2025-10-01")),)


def test_an_undo_makes_the_value_current_from_its_own_later_start() -> None:
    history = History()
    history.set("k1", Says("berlin", "2025-12-01"), arrives="2025-11-01")
    history.set("k2", Says("rome", "2025-12-02"), arrives="2025-11-02")
    history.set("k0", Says("oslo", "2025-01-01"), arrives="2025-01-02")
    history.delete("k1", "2025-11-03")
    history.undo("k1", "2025-11-10")
    assert history.values(before("2025-12-01")) == {"oslo": 1}
    assert history.values("2025-12-01") == {"berlin": 1}
    assert history.values("2025-12-02") == {"rome": 1}


def test_a_value_dated_on_a_later_day_than_the_undo_still_wins_but_not_one_of_the_same_day() -> None:
    history = History()
    history.set("k1", Says("london", "2025-01-01"), arrives="2025-01-02")
    history.set("k2", Says("paris", "2025-03-01"), arrives="2025-03-02")
    history.set("k3", Says("rome", "2025-11-10T18:00"), arrives="2025-11-01")
    history.set("k4", Says("bern", "2025-11-11"), arrives="2025-11-02")
    history.undo("k1", "2025-11-10T15:00")
    assert history.values("2025-11-10T20:00") == {"london": 1}
    assert history.values("2025-11-11") == {"bern": 1}


def test_a_value_stated_after_one_undo_loses_to_the_next_undo() -> None:
    history = History()
    history.set("k1", Says("london", "2025-10-01"), arrives="2025-10-02")
    history.set("k2", Says("paris", "2025-10-05"), arrives="2025-10-06")
    history.undo("k1", "2025-11-10")
    history.set("k3", Says("rome", "2025-10-02"), arrives="2025-11-11")
    history.undo("k1", "2025-11-12")
    assert history.values("2025-11-11T12:00") == {"rome": 1}
    assert history.values("2025-11-12") == {"london": 1}


def test_each_undo_ranks_on_its_own_day() -> None:
    history = History()
    history.set("k1", Says("london", "2025-01-01"), arrives="2025-01-02")
    history.set("k2", Says("rome", "2025-05-05"), arrives="2025-01-03")
    history.undo("k1", "2025-04-01")
    history.undo("k1", "2025-05-10")
    assert history.values("2025-05-07") == {"rome": 1}
    assert history.values("2025-05-10") == {"london": 1}


def test_a_value_stated_after_one_undo_gains_nothing_by_a_later_undo() -> None:
    history = History()
    history.set("k1", Says("london", "2025-01-01"), arrives="2025-01-02")
    history.set("k2", Says("bern", "2025-01-01"), arrives="2025-01-03")
    history.set("k3", Says("rome", "2025-11-15"), arrives="2025-01-04")
    history.undo("k1", "2025-11-10")
    history.set("k4", Says("paris", "2025-02-01"), arrives="2025-11-11")
    history.undo("k2", "2025-11-20")
    history.delete("k2", "2025-11-21")
    assert history.values("2025-11-12") == {"paris": 1}
    assert history.values("2025-11-20") == {"bern": 1}
    assert history.values("2025-11-21") == {"rome": 1}


@pytest.mark.parametrize(
    ("arrives", "current"),
    [("2025-11-10T00:00:00.000001", "paris"), ("2025-11-10T00:00", "london"), ("2025-11-09T23:00", "london")],
)
def test_only_what_arrives_after_the_undo_is_stated_after_it(arrives: str, current: str) -> None:
    history = History()
    history.set("k1", Says("london", "2025-10-01"), arrives="2025-10-02")
    history.set("k2", Says("paris", "2025-11-09"), arrives=arrives)
    history.undo("k1", "2025-11-10")
    assert history.values(LATER) == {current: 1}


def test_an_undone_past_value_is_current_against_a_dated_one() -> None:
    history = History()
    history.set("k1", Says("london", past=True), arrives="2025-11-01")
    history.set("k2", Says("paris", "2025-10-01"), arrives="2025-11-02")
    history.undo("k1", "2025-11-10")
    assert history.values(before("2025-11-10")) == {"paris": 1}
    assert history.values("2025-11-10") == {"london": 1}


@pytest.mark.parametrize("reverse", [False, True])
def test_an_undone_row_gets_back_the_value_that_was_its_current_one(reverse: bool) -> None:
    said = [Says("london", past=True), Says("paris", "2025-10-01")]
    history = History()
    history.set("k1", *(reversed(said) if reverse else said), arrives="2025-11-01")
    history.set("k2", Says("rome", "2025-11-05"), arrives="2025-11-06")
    history.undo("k1", "2025-11-10")
    assert history.values(LATER) == {"paris": 1}


def test_what_was_stated_after_an_undo_keeps_its_order_though_it_all_ranks_on_the_undos_day() -> None:
    history = History()
    history.set("k1", Says("london", "2025-10-01"), arrives="2025-10-02")
    history.undo("k1", "2025-11-10")
    history.set("k2", Says("paris", "2025-10-05"), Says("rome", "2025-10-03"), arrives="2025-11-11")
    assert history.values(LATER) == {"paris": 1}


def test_undo_within_one_key_returns_the_restored_version_and_loses_none() -> None:
    history = History()
    history.set("k", Says("london"), arrives="2025-01-01")
    history.set("k", Says("paris"), arrives="2025-02-01")
    history.undo("k", "2025-03-01", version=1)
    assert history.values(before("2025-03-01")) == {"paris": 1}
    assert history.values("2025-03-01") == {"london": 1}
    for n in range(10):
        history.undo("k", f"2025-04-{2 * n + 1:02}", version=2)
        history.undo("k", f"2025-04-{2 * n + 2:02}", version=1)
        assert history.values(f"2025-04-{2 * n + 1:02}T12:00") == {"paris": 1}
        assert history.values(f"2025-04-{2 * n + 2:02}T12:00") == {"london": 1}
    assert history.values("2025-01-15") == {"london": 1}
    assert {id_: life.status for id_, life in history.lives().items()} == {"k.1": "live", "k.2": "superseded"}


def test_a_close_derived_late_sees_the_value_stated_since() -> None:
    seen = History()
    seen.set("k1", Says("london"), arrives=DAWN)
    seen.set("k2", Says("paris"), arrives="2025-10-01T09:00")
    assert seen.values(LATER) == {"paris": 1}
    seen.set("k3", Says("rome"), arrives="2025-10-01T10:00")  # stated before the close of london was replayed
    assert seen.values(LATER) == {"rome": 1}
    assert seen.derive()["k1.1", "london"] == ((at(DAWN), None, at("2025-10-01T09:00")),)


def test_an_update_after_an_undo_keeps_the_undone_value_current() -> None:
    history = History()
    history.set("k1", Says("london", "2025-01-01"), arrives="2025-01-02")
    history.set("k2", Says("paris", "2025-03-01"), arrives="2025-03-02")
    history.undo("k1", "2025-05-10")
    history.set("k1", Says("london"), arrives="2025-06-01")
    assert history.values(LATER) == {"london": 1}
    assert history.values("2025-04-01") == {"paris": 1}
    assert history.values("2025-02-01") == {"london": 1}


@pytest.mark.parametrize(
    ("said", "cardinality", "others", "expected"),
    [
        ([Says("london")], "one", [], True),
        ([Says("london")], "one", [Says("paris", "2025-12-01")], True),  # not yet closed
        ([Says("london")], "one", [Says("paris")], False),
        ([Says("london", "2025-12-01")], "one", [], True),  # will be, from its start on
        ([Says("london"), Says("rome")], "one", [], True),  # rome is the row's newest, and current
        ([Says("london"), Says("rome")], "one", [Says("paris")], False),
        ([Says("london"), Says("rome")], "many", [Says("paris")], True),
        ([Says("london", until="2025-10-20"), Says("rome")], "one", [], False),  # an Undo would lift the end
        ([Says("london", until="2026-10-20")], "one", [Says("paris")], True),  # holds beside paris
        ([Says("london", until="2025-10-20")], "many", [], False),
        ([], "one", [Says("paris")], True),
    ],
)
def test_restoring_a_live_row_is_a_no_op_only_where_its_values_are_all_current(
    said: list[Says], cardinality: Cardinality, others: list[Says], expected: bool
) -> None:
    history, now = History(), at("2025-11-10")
    assert now is not None
    row = history.set("k1", *said, arrives=DAWN)
    history.set("k2", *others, arrives="2025-10-02")
    derived = history.derive(cardinality)
    stated = [spans for (memory_id, _), spans in derived.items() if memory_id == row.memory_id]
    assert values_current(stated, cardinality, now) is expected


def test_an_undo_at_the_very_end_of_a_value_lifts_that_end() -> None:
    history = History()
    history.set("k1", Says("london", "2025-01-01", "2025-12-01"), arrives="2025-01-02")
    history.undo("k1", "2025-12-01")
    assert history.derive()["k1.1", "london"] == ((at("2025-01-01"), None, None),)


def test_an_undo_before_a_values_own_end_leaves_that_end() -> None:
    history = History()
    history.set("k1", Says("london", "2025-01-01", "2025-12-01"), arrives="2025-01-02")
    history.undo("k1", before("2025-12-01"))
    assert history.derive()["k1.1", "london"] == ((at("2025-01-01"), at("2025-12-01"), None),)
