"""Random histories, through the rules and through a model that reads the rulings literally."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loom_core.graph.intervals import FOREVER
from loom_core.graph.lifecycle import history_from_json, history_to_json, lifecycles
from loom_core.graph.slots import derive
from tests.support.histories import History, Says
from tests.support.naive_model import NaiveModel

HOUR = 3_600_000_000
DAY = 24 * HOUR
BASE = 20_000 * DAY
KEYS = ("k1", "k2", "k3")

# Few instants, so that starts, ends, arrivals and Undos often meet on one day or in one microsecond.
dates = st.builds(
    lambda day, hour: BASE + day * DAY + hour * HOUR, st.integers(0, 9), st.sampled_from((0, 9))
)
maybe_dates = st.one_of(st.none(), st.none(), dates)
says = st.builds(Says, st.sampled_from(("london", "paris", "rome")), maybe_dates, maybe_dates, st.booleans())
steps = st.sampled_from((0, 1, HOUR, DAY, 2 * DAY))


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Sets, restatements, deletes, Undos, supersessions and erasures over three keys."""
    history, now, last = History(), BASE + 3 * DAY, dict.fromkeys(KEYS, 0)
    for _ in range(draw(st.integers(2, 9))):
        now += draw(steps)
        key = draw(st.sampled_from(KEYS))
        when = last[key] = max(now, last[key] + 1)
        written = history.versions(key)
        kind = (
            draw(st.sampled_from(("set", "set", "set", "restore", "restore", "delete"))) if written else "set"
        )
        if kind == "set":
            others = draw(st.sets(st.sampled_from(KEYS), max_size=1)) - {key}
            said = draw(st.lists(says, max_size=3))
            dated = (
                {"valid_at": draw(maybe_dates), "valid_to": draw(maybe_dates)} if draw(st.booleans()) else {}
            )
            history.set(key, *said, arrives=when, supersedes=others, **dated)
        elif kind == "restore":
            history.undo(key, when, draw(st.integers(1, len(written))))
        else:
            history.delete(key, when)
    if draw(st.integers(0, 5)) == 0:
        history = history.erase(draw(st.sampled_from(KEYS)))
    return history


def instants_of(history: History) -> list[int]:
    """Every instant at which anything can change, and one microsecond to either side."""
    found = {event.at for event in history.events}
    for row in history.rows:
        found |= {row.arrival, row.start, row.valid_to or row.start}
        for each in row.statements:
            found |= {each.own_start or row.start, each.own_end or row.start}
    return sorted({instant + shift for instant in found for shift in (-1, 0, 1)})


def check_statements(history: History) -> None:
    model = NaiveModel(history)
    keys = {row.memory_id: row.key for row in history.rows}
    for cardinality in ("one", "many"):
        derived = history.derive(cardinality)
        for instant in instants_of(history):
            held = {key for key, spans in derived.items() if any(span.holds_at(instant) for span in spans)}
            assert held == model.holding(instant, cardinality), (cardinality, instant)
            by_key = [(keys[memory_id], object_) for memory_id, object_ in held]
            assert len(by_key) == len(set(by_key)), f"one key counts twice at {instant}:\n{history!r}"


def check_shape(history: History) -> None:
    for cardinality in ("one", "many"):
        for spans in history.derive(cardinality).values():
            assert spans
            assert all(before.until < after.valid_from for before, after in pairwise(spans))
            assert len(spans) == 1 or all(span.valid_from < span.until for span in spans)
            for span in spans:
                assert span.invalid_at is None or span.valid_from <= span.invalid_at
                assert span.invalid_at is None or span.valid_to is None or span.invalid_at < span.valid_to


def check_pairs(history: History) -> None:
    model, lives = NaiveModel(history), history.lives()
    for instant in instants_of(history):
        there: list[str] = []
        for row in history.rows:
            holds = any(span.holds_at(instant) for span in lives[row.memory_id].spans)
            assert holds == model.pairs_hold(row, instant), (row.memory_id, instant)
            there += [row.key] * holds
        assert len(there) == len(set(there)), f"two versions of one key are there at {instant}"


def check_order(history: History, seed: int) -> None:
    shuffled = random.Random(seed)
    statements, rows, events = history.statements(), list(history.rows), list(history.events)
    for each in (statements, rows, events):
        shuffled.shuffle(each)
    other = History(rows, events)
    lives = {}
    for key in KEYS:
        versions, of_key = other.key_versions(key), other.key_events(key)
        shuffled.shuffle(versions)
        shuffled.shuffle(of_key)
        lives |= lifecycles(versions, of_key)
    assert lives == history.lives()
    assert derive(statements, lives, "one") == history.derive("one")
    assert {id_: history_from_json(history_to_json(life)) for id_, life in lives.items()} == lives


def check(history: History, seed: int) -> None:
    check_statements(history)
    check_shape(history)
    check_pairs(history)
    check_order(history, seed)


quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]


@settings(max_examples=200, deadline=None, suppress_health_check=quiet)
@given(histories(), st.integers(0, 99))
def test_random_histories_hold_what_the_rulings_say(history: History, seed: int) -> None:
    check(history, seed)


@pytest.mark.nightly
@settings(max_examples=2_000, deadline=None, suppress_health_check=quiet)
@given(histories(), st.integers(0, 99))
def test_two_thousand_random_histories_hold_what_the_rulings_say(history: History, seed: int) -> None:
    check(history, seed)


def test_the_model_is_asked_about_instants_beyond_all_events_too() -> None:
    history = History()
    history.set("k1", Says("london"), arrives=BASE)
    assert NaiveModel(history).holding(FOREVER - 1, "one") == {("k1.1", "london")}
