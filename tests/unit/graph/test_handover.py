"""A row that states a triple again takes it over from the row it supersedes (D11, D41)."""

from __future__ import annotations

import pytest

from tests.support.histories import History, Says, at

LATER = "2025-12-31"


def london_since_january() -> History:
    history = History()
    history.set("k1", Says("london", "2025-01-01"), arrives="2025-01-05")
    return history


def intervals(history: History, memory_id: str) -> tuple[tuple[int | None, ...], ...]:
    return tuple(map(tuple, history.derive()[memory_id, "london"]))


@pytest.mark.parametrize("valid_at", [None, "2025-05-15"])
def test_an_undated_restatement_keeps_the_old_start_whatever_date_its_row_has(valid_at: str | None) -> None:
    history = london_since_january()
    history.set("k1", Says("london"), arrives="2025-06-01", valid_at=valid_at)
    assert intervals(history, "k1.2") == ((at("2025-01-01"), None, None),)
    assert history.values("2025-03-01") == {"london": 1}


def test_a_restatement_through_many_versions_keeps_the_first_start() -> None:
    history = london_since_january()
    for month in range(2, 12):
        history.set("k1", Says("london"), arrives=f"2025-{month:02}-01")
    assert intervals(history, "k1.11") == ((at("2025-01-01"), None, None),)
    assert all(history.values(f"2025-{month:02}-15") == {"london": 1} for month in range(1, 12))


def test_a_restatement_does_not_reopen_a_value_that_a_later_day_closed() -> None:
    history = london_since_january()
    history.set("k2", Says("paris", "2025-03-01"), arrives="2025-03-02")
    history.set("k1", Says("london"), arrives="2025-06-01")
    assert history.values(LATER) == {"paris": 1}
    assert intervals(history, "k1.2") == ((at("2025-01-01"), None, at("2025-03-01")),)


def test_a_restatement_keeps_a_start_that_is_still_ahead() -> None:
    history = History()
    history.set("k1", Says("london", "2025-12-01"), arrives="2025-11-01")
    history.set("k1", Says("london"), arrives="2025-11-05")
    assert intervals(history, "k1.2") == ((at("2025-12-01"), None, None),)


@pytest.mark.parametrize("restated", ["2024-06-01", "2025-02-01", "2025-09-01"])
def test_a_restatement_with_a_date_of_its_own_starts_there_and_never_counts_twice(restated: str) -> None:
    history = london_since_january()
    history.set("k1", Says("london", restated), arrives="2025-06-01")
    assert intervals(history, "k1.2") == ((at(restated), None, None),)
    for month in range(2, 13):
        assert history.values(f"2025-{month:02}-15") == {"london": 1}


def test_a_version_in_between_that_is_silent_breaks_the_hand_over() -> None:
    history = london_since_january()
    history.set("k1", arrives="2025-03-01")
    history.set("k1", Says("london"), arrives="2025-06-01")
    assert history.values("2025-04-01") == {}
    assert intervals(history, "k1.3") == ((at("2025-06-01"), None, None),)


def test_two_versions_that_are_not_neighbours_count_once_too() -> None:
    history = london_since_january()
    history.set("k1", arrives="2025-04-01")
    history.set("k1", Says("london", "2025-02-01"), arrives="2025-06-01")
    assert intervals(history, "k1.1") == ((at("2025-01-01"), None, at("2025-02-01")),)
    assert history.values("2025-03-01") == {"london": 1}


@pytest.mark.parametrize("end", ["2025-03-01", "2025-06-01"])
def test_what_had_ended_is_not_handed_over(end: str) -> None:
    history = History()
    history.set("k1", Says("london", "2025-01-01", end), arrives="2025-01-05")
    history.set("k1", Says("london"), arrives="2025-06-01")
    assert history.values("2025-04-01") == ({} if end == "2025-03-01" else {"london": 1})
    assert intervals(history, "k1.1") == ((at("2025-01-01"), at(end), None),)
    assert intervals(history, "k1.2") == ((at("2025-06-01"), None, None),)


def test_an_undated_value_goes_back_with_the_row_that_is_dated_back() -> None:
    history = History()
    history.set("k1", Says("london"), arrives="2025-06-01")
    history.set("k1", Says("london"), arrives="2025-06-02", valid_at="2024-01-01")
    assert intervals(history, "k1.2") == ((at("2024-01-01"), None, None),)


def test_a_row_of_another_key_takes_over_and_only_it_counts() -> None:
    history = london_since_january()
    history.set("k2", Says("london"), arrives="2025-06-01", supersedes=["k1"])
    assert intervals(history, "k2.1") == ((at("2025-01-01"), None, None),)
    assert history.values(LATER) == {"london": 1}


def test_a_takeover_of_several_keys_keeps_the_earliest_start() -> None:
    history = london_since_january()
    history.set("k2", Says("london", "2024-01-01"), arrives="2025-01-06")
    history.set("k3", Says("london"), arrives="2025-06-01", supersedes=["k1", "k2"])
    assert intervals(history, "k3.1") == ((at("2024-01-01"), None, None),)
    assert history.values("2025-03-01") == {"london": 1}


def test_a_restored_version_takes_its_value_back_from_the_one_it_had_handed_it_to() -> None:
    history = london_since_january()
    history.set("k1", Says("london"), arrives="2025-06-01")
    history.undo("k1", "2025-08-01", version=1)
    assert intervals(history, "k1.2") == ((at("2025-01-01"), None, at("2025-08-01")),)
    assert intervals(history, "k1.1") == ((at("2025-08-01"), None, None),)


def test_a_gap_that_a_delete_left_is_not_filled_by_a_later_restatement() -> None:
    history = london_since_january()
    history.delete("k1", "2025-03-01")
    history.undo("k1", "2025-05-01")
    history.set("k1", Says("london"), arrives="2025-06-01")
    assert history.values("2025-04-01") == {}
    assert intervals(history, "k1.1") == ((at("2025-01-01"), None, at("2025-03-01")),)
    assert intervals(history, "k1.2") == ((at("2025-05-01"), None, None),)


def test_the_old_statement_bridges_to_a_restatement_dated_ahead_unless_its_row_is_retired_first() -> None:
    history = london_since_january()
    history.set("k1", Says("london", "2025-09-01"), arrives="2025-06-01")
    assert history.values("2025-07-01") == {"london": 1}
    history.delete("k1", "2025-08-01")
    assert history.values("2025-07-01") == {"london": 1}
    assert history.values("2025-08-01") == {}
    assert history.values("2025-10-01") == {}


def test_a_version_dated_ahead_that_another_replaced_first_retires_nothing() -> None:
    history = london_since_january()
    history.set("k1", arrives="2025-06-01", valid_at="2025-12-01")
    history.set("k1", Says("london"), arrives="2025-07-01")
    assert intervals(history, "k1.3") == ((at("2025-01-01"), None, None),)


@pytest.mark.parametrize(("undone", "kept"), [("2025-03-01", "2025-01-01"), ("2025-04-01", "2025-04-01")])
def test_a_value_whose_end_an_undo_lifted_is_handed_over_without_the_gap_before(
    undone: str, kept: str
) -> None:
    history = History()
    history.set("k1", Says("london", "2025-01-01", "2025-03-01"), arrives="2025-01-05")
    history.undo("k1", undone)
    history.set("k1", Says("london"), arrives="2025-06-01")
    assert intervals(history, "k1.2") == ((at(kept), None, None),)
    assert history.values("2025-02-01") == {"london": 1}
    assert history.values("2025-03-15") == ({"london": 1} if kept == "2025-01-01" else {})


@pytest.mark.parametrize("happens", ["delete", "undo", "new version"])
def test_the_bridge_to_another_keys_later_statement_ends_with_what_happens_to_the_old_key(
    happens: str,
) -> None:
    history = london_since_january()
    history.set("k1", Says("london"), arrives="2025-03-01")
    history.set("k2", Says("london", "2025-09-01"), arrives="2025-06-01", supersedes=["k1"])
    assert history.values("2025-08-15") == {"london": 1}
    if happens == "delete":
        history.delete("k1", "2025-08-01")
    elif happens == "undo":
        history.undo("k1", "2025-08-01", version=1)
    else:
        history.set("k1", arrives="2025-08-01")
    assert history.values("2025-07-15") == {"london": 1}
    assert history.values("2025-08-15") == ({"london": 1} if happens == "undo" else {})
    assert history.values("2025-09-01") == {"london": 2 if happens == "undo" else 1}
