"""Random histories through the real store, whatever befalls the processes, against the naive model."""

from __future__ import annotations

import random
from collections import Counter
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from loom_core import clock
from loom_core.projection import failures
from loom_core.projection.project import project_keys
from loom_core.settings import Settings
from loom_core.storage.store import Store
from tests.support.graph_seen import graph_of, unprojected
from tests.support.histories import History
from tests.support.naive_model import NaiveModel
from tests.support.troubled_histories import KEYS, Step, Troubled, instant, landed, steps
from tests.support.world import World

PATIENT = Settings(
    projection_retry_base_delay_s=0, projection_retry_orphan_after_s=0, projection_retry_max_attempts=1000
)


def boundaries(history: History, now: int) -> list[int]:
    """Every instant at which anything can change, one microsecond to either side, and now."""
    found = {event.at for event in history.events}
    for row in history.rows:
        found |= {row.arrival, row.start, row.valid_to or row.start}
        for each in row.statements:
            found |= {each.own_start or row.start, each.own_end or row.start}
    return sorted({at + shift for at in found for shift in (-1, 0, 1)} | {now})


def expected(model: NaiveModel, at: int) -> dict[tuple[str, str], int]:
    """(relation, city) → how many rows it holds of."""
    found: Counter[tuple[str, str]] = Counter()
    for relation, cardinality in (("live_in", "one"), ("use", "many")):
        found.update((relation, city) for _, city in model.holding(at, cardinality))
    return dict(found)


def neighbours(model: NaiveModel, at: int) -> dict[str, int]:
    """What `acme` was named with, by the rows that are there."""
    return dict(
        Counter(
            city
            for row in model.history.rows
            if model.pairs_hold(row, at)
            for city in {each.object for each in row.statements}
        )
    )


def check(store: Store, made: list[Step], seed: int) -> None:
    world = World(store, PATIENT)
    troubled = Troubled(world)
    troubled.make(made)
    history = landed(world)
    model = NaiveModel(history)
    with patch.object(clock, "now", lambda: troubled.now):
        for at in boundaries(history, troubled.now):
            as_of = None if at == troubled.now else instant(at)
            held = {
                (fact.relation, fact.object): fact.co_occur
                for fact in world.list(subject="user", as_of=as_of)
            }
            assert held == expected(model, at), (clock.instant(at), history)
        assert world.related("acme") == neighbours(model, troubled.now), history
        assert not failures.listed(store, world.scope)
        world.verified()
        again = unprojected(world, KEYS)
        keys = [*KEYS]
        random.Random(seed).shuffle(keys)
        for key in keys:
            assert not project_keys(store, again.scope, [key]).degraded()
        assert graph_of(again) == graph_of(world)


quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]


@settings(
    max_examples=20,
    derandomize=True,
    deadline=None,
    suppress_health_check=quiet,
    phases=[*set(Phase) - {Phase.shrink}],
)
@given(made=st.lists(steps, min_size=2, max_size=5), seed=st.integers(0, 99))
def test_whatever_befalls_the_processes_the_facts_are_those_of_the_rows_that_landed(
    store: Store, made: list[Step], seed: int
) -> None:
    check(store, made, seed)


@pytest.mark.nightly
@settings(max_examples=2_000, deadline=None, suppress_health_check=quiet)
@given(made=st.lists(steps, min_size=2, max_size=9), seed=st.integers(0, 99))
def test_two_thousand_of_them(store: Store, made: list[Step], seed: int) -> None:
    check(store, made, seed)
