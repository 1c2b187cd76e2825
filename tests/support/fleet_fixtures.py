"""`fleet`: real stores and no process yet, for the tests that start workers; `town`: a namespace of its own on them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loom_core.projection import failures
from loom_core.projection.due import waiting
from loom_core.storage.store import Store
from loom_core.tagging.due import untagged
from tests.support.fleet import Fleet, running_fleet
from tests.support.world import World


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with running_fleet(tmp_path_factory.mktemp("fleet")) as fleet:
        yield fleet


@pytest.fixture
def fleet(stores: Fleet) -> Iterator[Fleet]:
    """The stores with an empty Redis; what the test starts is ended after it."""
    stores.environment = {
        "LOOM_ENTITY_EXTRACT_INTERVAL_S": "1",
        "LOOM_PROJECTION_RETRY_INTERVAL_S": "1",
        "LOOM_SUPERSESSION_REPLAY_INTERVAL_S": "1",
        "LOOM_PROJECTION_RETRY_BASE_DELAY_S": "0",
        "LOOM_PROJECTION_RETRY_ORPHAN_AFTER_S": "0",
    }
    stores.client().flushall()
    try:
        yield stores
    finally:
        for process in stores.processes:
            process.kill()
        stores.processes.clear()


@pytest.fixture
def town(fleet: Fleet) -> Iterator[World]:
    """An empty namespace on the fleet's stores."""
    settings = fleet.settings(projection_retry_base_delay_s=0)
    store = Store(settings)
    yield World(store, settings)
    # What a test leaves unread would keep the workers of the next ones busy.
    store.command("TRUNCATE TABLE loom.memory")
    store.close()


def bulk(world: World, count: int, start: int = 0) -> None:
    """Rows k`start` and on that await an extractor, all of one hub: `hub_is_whole` looks for each of them."""
    numbers = range(start, start + count)
    world.set_many(*({"memory_key": f"k{n}", "value": f"alpha_{n} uses hub service"} for n in numbers))


def tagged(world: World) -> int:
    """Rows that an extractor's result is stored for."""
    return world.count("memory_extractions")


def hub_is_whole(world: World, count: int) -> None:
    """Each of `count` rows of `bulk` weighs once, and nothing differs from the rows."""
    weights = world.store.rows(
        "SELECT count() FROM loom.entity_adjacency FINAL WHERE org = {org:String} AND namespace = {namespace:String} "
        "AND entity = 'hub service' GROUP BY neighbour",
        **world.names,
    )
    found = (len(weights), {weight for (weight,) in weights})
    unfinished = failures.listed(world.store, world.scope, [failures.OPEN, failures.DEAD])
    assert found == (count, {1}), (found, tagged(world), unfinished)
    assert world.degrees()["hub service"] == count
    assert not unfinished, [(each.memory_key, each.state, each.error_class) for each in unfinished]
    world.verified()


def settled(world: World, extracts: bool = True) -> bool:
    """Nothing of the namespace waits for a worker, and nothing is in a worker's hands."""
    return not (
        (extracts and untagged(world.store, world.scope, 1))
        or waiting(world.store, world.scope)
        or failures.listed(world.store, world.scope, [failures.OPEN])
    )
