"""`include_source_status`: "marks a triple stale when it is open but every row behind it is superseded"."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from loom_core.facts.models import FactRow, FactsListRequest
from loom_core.facts.service import FactsService
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tenancy import Scope
from tests.support.graph_rows import GraphRows, Observation, day
from tests.support.loom import Loom


@pytest.fixture
def loom(store: Store) -> Loom:
    return Loom(store, Scope("org", uuid.uuid4().hex), Settings())


def lagging(loom: Loom, *sources: tuple[str, str], **life: Any) -> None:
    """A triple that the store still holds for these (key, memory id), as if no close had reached it."""
    rows = GraphRows(loom.store, loom.scope)
    for number, (key, memory_id) in enumerate(sources):
        observation = Observation(
            "kestrel", "team red", "own", memory_id, key, arrival=rows_arrive(number), **life
        )
        rows.observations.append(observation)
    rows.land()


def rows_arrive(number: int) -> int:
    return 1_735_700_000_000_000 - number


def listed(loom: Loom, facts: FactsService) -> FactRow:
    request = FactsListRequest(**loom.names(), subject="kestrel", include_source_status=True)
    (row,) = facts.list(loom.context, request).rows
    return row


def statuses(row: FactRow) -> list[tuple[str, str]]:
    return [(source.memory_key, source.status) for source in row.source_status]


def test_a_triple_of_a_live_row_is_not_stale(loom: Loom, facts: FactsService) -> None:
    loom.set("k1", "x", relations=[["kestrel", "own", "team red"]])
    row = listed(loom, facts)
    assert (row.sources, statuses(row), row.stale) == (["k1"], [("k1", "live")], False)


def test_a_triple_left_open_by_rows_that_no_longer_stand_is_stale(loom: Loom, facts: FactsService) -> None:
    replaced, deleted, retired = loom.set("k1", "x"), loom.set("k2", "x"), loom.set("k3", "x")
    loom.set("k1", "y")
    loom.delete("k2")
    loom.set("k4", "x", supersedes=["k3"])
    lagging(loom, ("k1", replaced), ("k2", deleted), ("k3", retired), ("k9", "erased"))
    row = listed(loom, facts)
    assert statuses(row) == [("k1", "superseded"), ("k2", "deleted"), ("k3", "superseded"), ("k9", "erased")]
    assert row.stale


def test_one_live_row_among_many_keeps_a_triple_fresh(loom: Loom, facts: FactsService) -> None:
    superseded = []
    for number in range(11):
        superseded.append((f"k{number}", loom.set(f"k{number}", "x")))
        loom.set(f"k{number}", "y")
    lagging(loom, *superseded)
    assert listed(loom, facts).stale
    lagging(loom, *superseded, ("live", loom.set("live", "x")))
    row = listed(loom, facts)
    assert ("live", "live") not in statuses(row)
    assert not row.stale


def test_a_triple_whose_close_is_already_dated_is_not_stale(loom: Loom, facts: FactsService) -> None:
    replaced = loom.set("k1", "x")
    loom.set("k1", "y")
    lagging(loom, ("k1", replaced), invalid_at=int(day(1).replace(year=2200).timestamp() * 1_000_000))
    row = listed(loom, facts)
    assert (statuses(row), row.stale) == ([("k1", "superseded")], False)


def test_status_is_read_only_where_it_is_asked_for(loom: Loom, facts: FactsService) -> None:
    loom.set("k1", "x", relations=[["kestrel", "own", "team red"]])
    request = FactsListRequest(**loom.names(), include_sources=True)
    (row,) = facts.list(loom.context, request).rows
    assert (row.sources, row.source_status, row.stale) == (["k1"], [], False)
