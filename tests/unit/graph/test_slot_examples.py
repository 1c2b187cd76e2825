"""The worked examples of a slot (subject `user`, relation `live_in`), one test each, and the page's sentences."""

from __future__ import annotations

from tests.support.histories import History, Says, at

MICROSECOND = 1
NEW_YEAR = "2025-12-31"


def just_before(text: str) -> int:
    instant = at(text)
    assert instant is not None
    return instant - MICROSECOND


def london_then_paris() -> History:
    history = History()
    history.set("k1", Says("london", "2025-01-01"), arrives="2025-01-02")
    history.set("k2", Says("paris", "2025-03-01"), arrives="2025-03-02")
    return history


def test_t1_the_value_that_starts_later_is_current_from_its_start() -> None:
    history = london_then_paris()
    assert history.values(NEW_YEAR) == {"paris": 1}
    assert history.values(just_before("2025-03-01")) == {"london": 1}
    assert history.values("2025-03-01") == {"paris": 1}
    assert history.values(just_before("2025-01-01")) == {}


def test_t2_an_undated_value_starts_when_it_arrives() -> None:
    history = History()
    history.set("k1", Says("london"), arrives="2025-11-01T10:00")
    history.set("k2", Says("paris", "2025-10-01"), arrives="2025-11-02")
    assert history.values(NEW_YEAR) == {"london": 1}
    assert history.values("2025-10-15") == {"paris": 1}


def test_t3_on_the_same_day_the_later_arrival_wins_from_the_later_of_the_two_starts() -> None:
    history = History()
    history.set("k1", Says("london", "2025-10-01T09:00"), arrives="2025-10-02")
    history.set("k2", Says("paris", "2025-10-01T08:00"), arrives="2025-10-03")
    assert history.values(NEW_YEAR) == {"paris": 1}
    london, paris = history.derive()["k1.1", "london"], history.derive()["k2.1", "paris"]
    assert london == ((at("2025-10-01T09:00"), None, at("2025-10-01T09:00")),)
    assert paris == ((at("2025-10-01T08:00"), None, None),)


def test_t4_a_past_value_is_current_while_nothing_newer_is_known() -> None:
    history = History()
    history.set("k1", Says("london", past=True), arrives="2025-11-01")
    assert history.values(NEW_YEAR) == {"london": 1}


def test_t5_a_rows_date_does_not_date_a_past_value() -> None:
    history = History()
    history.set("k1", Says("london", past=True), arrives="2025-11-01", valid_at="2025-10-05")
    history.set("k2", Says("paris", "2025-10-01"), arrives="2025-11-02")
    assert history.values(NEW_YEAR) == {"paris": 1}


def test_t6_within_one_write_the_value_stated_later_is_newer() -> None:
    history = History()
    history.set("k1", Says("london"), Says("paris"), arrives="2025-11-01")
    assert history.values(NEW_YEAR) == {"paris": 1}


def test_t7_a_value_past_its_end_still_outranks_an_older_one() -> None:
    history = History()
    history.set("k1", Says("london", "2025-01-01"), arrives="2025-01-02")
    history.set("k2", Says("paris", "2025-10-01", "2025-12-01"), arrives="2025-10-02")
    assert history.values("2025-11-01") == {"paris": 1}
    assert history.values("2025-12-02") == {}


def test_t8_a_value_with_its_own_end_stays_beside_the_newer_one() -> None:
    history = History()
    history.set("k1", Says("london", "2025-09-01", "2025-12-01"), arrives="2025-09-02")
    history.set("k2", Says("london", "2025-09-15"), arrives="2025-09-16")
    history.set("k3", Says("paris", "2025-10-15"), arrives="2025-10-16")
    assert history.values("2025-09-20") == {"london": 2}
    assert history.values("2025-11-01") == {"london": 1, "paris": 1}
    assert history.values("2025-12-02") == {"paris": 1}
    assert history.derive()["k1.1", "london"] == ((at("2025-09-01"), at("2025-12-01"), None),)


def test_t9_a_value_stated_again_later_holds_again_for_every_row_that_states_it() -> None:
    history = london_then_paris()
    history.set("k3", Says("london", "2025-05-01"), arrives="2025-05-02")
    assert history.values(NEW_YEAR) == {"london": 2}
    assert history.values("2025-04-01") == {"paris": 1}
    assert history.values("2025-02-01") == {"london": 1}


def test_t10_a_value_is_judged_at_its_newest_row() -> None:
    history = History()
    history.set("k1", Says("london", "2025-10-15"), arrives="2025-10-20")
    history.set("k2", Says("paris", "2025-10-14"), arrives="2025-10-21")
    history.set("k3", Says("london", "2025-10-13"), arrives="2025-10-22")
    assert history.values(NEW_YEAR) == {"london": 2}
    assert history.values("2025-10-14T12:00") == {"paris": 1}
    assert history.values("2025-10-13T12:00") == {"london": 1}


def test_t11_a_new_version_that_is_silent_retires_the_value_at_its_own_start() -> None:
    history = History()
    history.set("k0", Says("oslo", "2025-01-01"), arrives="2025-01-02")
    history.set("k1", Says("london", "2025-03-01"), arrives="2025-03-02")
    history.set("k1", arrives="2025-06-01")
    assert history.values(just_before("2025-06-01")) == {"london": 1}
    assert history.values("2025-06-01") == {"oslo": 1}
    assert history.values("2025-04-01") == {"london": 1}


def test_t12_a_new_version_may_state_an_earlier_value() -> None:
    history = History()
    history.set("k1", Says("london", "2025-03-01"), arrives="2025-03-02")
    history.set("k1", Says("paris", "2025-01-01"), arrives="2025-06-01")
    assert history.values(NEW_YEAR) == {"paris": 1}
    assert history.values("2025-04-01") == {"london": 1}


def test_t13_what_a_deleted_row_closed_holds_again_from_the_delete_on_and_an_erased_one_never_was() -> None:
    history = london_then_paris()
    erased = history.erase("k2")
    history.delete("k2", "2025-06-01")
    assert history.values(just_before("2025-06-01")) == {"paris": 1}
    assert history.values("2025-06-01") == {"london": 1}
    assert erased.derive() == {("k1.1", "london"): ((at("2025-01-01"), None, None),)}


def test_t14_an_expired_value_never_was() -> None:
    expired = london_then_paris().expire("paris")
    assert expired.derive() == {("k1.1", "london"): ((at("2025-01-01"), None, None),)}


def test_t15_a_value_stated_after_the_undo_wins() -> None:
    history = History()
    history.set("k1", Says("london", "2025-10-01"), arrives="2025-10-02")
    history.set("k2", Says("paris", "2025-10-05"), arrives="2025-10-06")
    history.undo("k1", "2025-11-10")
    assert history.values(NEW_YEAR) == {"london": 1}
    history.set("k3", Says("paris", "2025-10-01"), arrives="2025-11-11")
    assert set(history.values(NEW_YEAR)) == {"paris"}


def test_t16_an_undo_lifts_an_end_that_has_passed() -> None:
    history = History()
    history.set("k1", Says("london", "2025-01-01", "2025-12-01"), arrives="2025-01-02")
    history.set("k2", Says("paris", "2025-10-01"), arrives="2025-10-02")
    history.undo("k1", "2025-12-10")
    assert history.values("2025-11-15") == {"london": 1, "paris": 1}
    assert history.values("2025-12-05") == {"paris": 1}
    assert history.values("2025-12-10") == {"london": 1}
    assert history.values("2027-01-01") == {"london": 1}


def test_t17_an_undo_makes_its_value_current_from_the_restore_on_and_both_rows_stay_live() -> None:
    history = london_then_paris()
    history.undo("k1", "2025-05-10T15:00")
    assert history.values(just_before("2025-05-10T15:00")) == {"paris": 1}
    assert history.values("2025-05-10T15:00") == {"london": 1}
    assert history.values("2025-02-01") == {"london": 1}
    assert all(life.live for life in history.lives().values())


def test_t18_a_value_dated_ahead_is_current_from_its_date_on() -> None:
    history = History()
    history.set("k1", Says("london", "2025-01-01"), arrives="2025-01-02")
    history.undo("k1", "2025-10-01")
    history.set("k2", Says("berlin", "2025-12-01"), arrives="2025-11-05")
    assert history.values("2025-01-01") == {"london": 1}
    assert history.values(just_before("2025-12-01")) == {"london": 1}
    assert history.values("2025-12-01") == {"berlin": 1}


def test_t19_cardinality_decides_at_every_derivation_and_for_the_past_too() -> None:
    history = london_then_paris()
    assert history.values(NEW_YEAR, "many") == {"london": 1, "paris": 1}
    assert history.values(NEW_YEAR, "one") == {"paris": 1}
    assert history.values(NEW_YEAR, "many") == {"london": 1, "paris": 1}


def test_t20_an_erased_value_takes_its_close_with_it() -> None:
    history = london_then_paris()
    history.set("k3", Says("rome", "2025-05-01"), arrives="2025-05-02")
    erased = history.erase("k2")
    assert erased.values(NEW_YEAR) == {"rome": 1}
    assert erased.derive()["k1.1", "london"] == ((at("2025-01-01"), None, at("2025-05-01")),)


def test_t21_undoing_back_and_forth_adds_no_weight() -> None:
    history = london_then_paris()
    steps = []
    for n in range(10):
        for minute, (key, value) in enumerate((("k1", "london"), ("k2", "paris"))):
            when = f"2025-05-10T{10 + n}:{minute:02}"
            history.undo(key, when)
            steps.append((when, value))
    for when, value in steps:
        assert history.values(when) == {value: 1}
    assert history.values(NEW_YEAR) == {"paris": 1}
    assert all(life.live for life in history.lives().values())
