"""The life of a key's versions: which one is there, which one `memory.get` answers, when its pairs hold."""

from __future__ import annotations

import random
import time

import pytest

from loom_core.graph.intervals import Interval, is_current
from loom_core.graph.lifecycle import (
    KeyEvent,
    RowHistory,
    Version,
    current,
    history_from_json,
    history_to_json,
    lifecycles,
    restore_target,
)
from loom_core.graph.slots import Statement, derive

V1, V2, V3 = Version("v1", 10), Version("v2", 20), Version("v3", 30)


def restore(at: int, memory_id: str) -> KeyEvent:
    return KeyEvent(f"restore@{at}", "restore", at, memory_id)


def delete(at: int) -> KeyEvent:
    return KeyEvent(f"delete@{at}", "delete", at)


def superseded(at: int, start: int | None = None) -> KeyEvent:
    return KeyEvent(f"supersede@{at}", "supersede", at, "other", at if start is None else start)


def spans(life: RowHistory) -> list[tuple[int | None, ...]]:
    return [tuple(span) for span in life.spans]


@pytest.mark.parametrize(
    ("versions", "events", "expected"),
    [
        ([V1], [], {"v1": [(10, None, None)]}),
        ([V1, V2], [], {"v1": [(10, None, 20)], "v2": [(20, None, None)]}),
        # The next version ends it at its start, which need not be its arrival.
        ([V1, Version("v2", 20, valid_at=15)], [], {"v1": [(10, None, 15)], "v2": [(15, None, None)]}),
        ([V1, Version("v2", 20, valid_at=50)], [], {"v1": [(10, None, 50)], "v2": [(50, None, None)]}),
        # A version dated back before the other began leaves that one no time at all, but a span to count.
        ([V1, Version("v2", 20, valid_at=5)], [], {"v1": [(10, None, 10)], "v2": [(5, None, None)]}),
        # What was dated ahead and replaced before its date is never there.
        (
            [V1, Version("v2", 20, valid_at=50), V3],
            [],
            {"v1": [(10, None, 30)], "v2": [(50, None, 50)], "v3": [(30, None, None)]},
        ),
        ([V1], [delete(40)], {"v1": [(10, None, 40)]}),
        ([V1], [superseded(40, 35)], {"v1": [(10, None, 35)]}),
        ([V1], [delete(40), restore(50, "v1")], {"v1": [(10, None, 40), (50, None, None)]}),
        ([V1], [superseded(40), restore(50, "v1")], {"v1": [(10, None, 40), (50, None, None)]}),
        # Undo within one key: one version is there at a time, none is lost.
        (
            [V1, V2],
            [restore(40, "v1"), restore(50, "v2"), restore(60, "v1")],
            {
                "v1": [(10, None, 20), (40, None, 50), (60, None, None)],
                "v2": [(20, None, 40), (50, None, 60)],
            },
        ),
        # Undo across keys: the row was live all along, and its pairs held all along.
        ([V1], [restore(40, "v1")], {"v1": [(10, None, None)]}),
        # A row's own end ends its pairs, and an Undo lifts an end already past, not one ahead.
        ([Version("v1", 10, valid_to=30)], [], {"v1": [(10, 30, None)]}),
        ([Version("v1", 10, valid_to=30)], [restore(40, "v1")], {"v1": [(10, 30, None), (40, None, None)]}),
        ([Version("v1", 10, valid_to=60)], [restore(40, "v1")], {"v1": [(10, 60, None)]}),
        ([Version("v1", 10, valid_to=40)], [restore(40, "v1")], {"v1": [(10, None, None)]}),
        ([Version("v1", 10, valid_to=30)], [delete(20)], {"v1": [(10, 30, 20)]}),
        ([Version("v1", 10, valid_to=30)], [delete(40)], {"v1": [(10, 30, None)]}),
        ([Version("v1", 10, valid_at=90)], [delete(20), restore(40, "v1")], {"v1": [(90, None, None)]}),
        # A delete concerns the versions there are, not one that is written afterwards.
        ([V1, V2], [delete(15)], {"v1": [(10, None, 15)], "v2": [(20, None, None)]}),
        # An event of the microsecond in which a version arrives finds it there.
        ([V1], [superseded(10)], {"v1": [(10, None, 10)]}),
        ([V1], [delete(10)], {"v1": [(10, None, 10)]}),
        ([V1], [KeyEvent("s", "supersede", 40, "other")], {"v1": [(10, None, 40)]}),
        ([V1], [KeyEvent("d", "delete", 40, start=15)], {"v1": [(10, None, 40)]}),
        # A restore of what was erased, or had not arrived, is no input.
        ([V2], [restore(40, "v1")], {"v2": [(20, None, None)]}),
        ([V1, V2], [restore(15, "v2")], {"v1": [(10, None, 20)], "v2": [(20, None, None)]}),
    ],
)
def test_pairs_hold_while_their_version_is_there(
    versions: list[Version], events: list[KeyEvent], expected: dict[str, list[tuple[int | None, ...]]]
) -> None:
    lives = lifecycles(versions, events)
    assert {id_: spans(life) for id_, life in lives.items()} == expected
    assert lifecycles(versions[::-1], events[::-1]) == lives
    assert {id_: history_from_json(history_to_json(life)) for id_, life in lives.items()} == lives


@pytest.mark.parametrize(
    ("versions", "events", "answered", "target", "statuses"),
    [
        ([], [], None, None, {}),
        ([V1], [], "v1", None, {"v1": "live"}),
        ([V1, V2], [], "v2", "v1", {"v1": "superseded", "v2": "live"}),
        ([V1, V2], [restore(40, "v1")], "v1", "v2", {"v1": "live", "v2": "superseded"}),
        (
            [V1, V2, V3],
            [restore(40, "v1")],
            "v1",
            "v3",
            {"v1": "live", "v2": "superseded", "v3": "superseded"},
        ),
        ([V1, V2], [delete(40)], None, "v2", {"v1": "superseded", "v2": "deleted"}),
        ([V1, V2], [delete(40), restore(50, "v2")], "v2", "v1", {"v1": "superseded", "v2": "live"}),
        ([V1, V2], [delete(15)], "v2", "v1", {"v1": "deleted", "v2": "live"}),
        ([V1], [superseded(40)], "v1", "v1", {"v1": "superseded"}),
        ([V1], [superseded(40), delete(50)], None, "v1", {"v1": "deleted"}),
        ([V1], [delete(40), superseded(50)], None, "v1", {"v1": "deleted"}),
        ([V1, V2], [superseded(15)], "v2", "v1", {"v1": "superseded", "v2": "live"}),
        ([V1], [superseded(40), restore(50, "v1")], "v1", None, {"v1": "live"}),
    ],
)
def test_get_answers_the_version_last_written_or_restored(
    versions: list[Version],
    events: list[KeyEvent],
    answered: str | None,
    target: str | None,
    statuses: dict[str, str],
) -> None:
    assert current(versions, events) == answered
    assert restore_target(versions, events) == target
    lives = lifecycles(versions, events)
    assert {id_: life.status for id_, life in lives.items()} == statuses
    assert {id_ for id_, life in lives.items() if life.live} == {
        i for i, s in statuses.items() if s == "live"
    }


def test_a_first_version_is_its_own_restore_target_only_where_its_values_are_not_all_current() -> None:
    assert restore_target([V1], [], values_current=True) is None
    assert restore_target([V1], [], values_current=False) == "v1"
    assert restore_target([V1, V2], [], values_current=False) == "v1"


def test_a_versions_life_changes_only_with_what_concerns_it() -> None:
    before = lifecycles([V1, V2], [])
    after = lifecycles([V1, V2, V3], [delete(40), restore(50, "v3")])
    assert after["v1"] == before["v1"]
    assert after["v2"] != before["v2"]


@pytest.mark.parametrize(
    ("spans_", "now", "expected"),
    [
        ([Interval(10, None, None)], 20, True),
        ([Interval(10, None, None)], 5, True),  # not yet begun: it will hold from its start on
        ([Interval(10, None, 15)], 20, False),
        ([Interval(10, None, 15), Interval(18, None, None)], 20, True),
        ([Interval(10, None, 15), Interval(30, None, None)], 20, False),
        ([Interval(10, 15, None)], 20, False),
        ([Interval(10, None, 10)], 5, False),
    ],
)
def test_a_value_is_current_when_it_holds_now_or_will_from_its_start(
    spans_: list[Interval], now: int, expected: bool
) -> None:
    assert is_current(spans_, now) is expected


def test_ten_thousand_versions_undos_and_statements_take_well_under_a_second_each() -> None:
    day, size = 86_400_000_000, 10_000
    versions = [Version(f"v{n:05}", n * day) for n in range(size)]
    undos = [restore((size + n) * day, f"v{n % 2:05}") for n in range(size)]
    began = time.process_time()
    lives = lifecycles(versions, undos)
    apart = {f"v{n:05}": lifecycles([Version(f"v{n:05}", n * day)], [])[f"v{n:05}"] for n in range(size)}
    of_one_key = derive(
        [Statement(v.memory_id, 0, f"city {n % 7}") for n, v in enumerate(versions)], lives, "one"
    )
    dates = random.Random(7)
    dated = [Statement(id_, 0, f"city {n}", dates.randrange(size) * day) for n, id_ in enumerate(apart)]
    of_many_keys = derive(dated, apart, "one")
    assert len(of_one_key) == len(of_many_keys) == size
    assert time.process_time() - began < 4
