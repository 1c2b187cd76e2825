"""Wherever a process dies, what the fleet makes of the rest is what one clean run would have left (D13)."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from loom_core.faults import POINTS
from loom_core.projection import failures
from loom_core.tenancy import Scope
from tests.support.fleet import Fleet
from tests.support.fleet_fixtures import settled
from tests.support.recovery import note
from tests.support.servers import wait_until
from tests.support.world import World, fault
from tests.support.writer_process import write

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(1200)]

WRITERS = [
    point
    for point in POINTS
    if point.partition(":")[0]
    not in (
        "entity_extractor",
        "projection_retry",
        "supersession_replay",
        "entity_communities",
        "tick",
        "erase",
    )
]
DIED = 137


def clean_run(world: World) -> World:
    """The same inputs in a namespace of their own, nobody dying."""
    other = World(world.store, world.settings)
    write(other)
    return other


def graph(world: World) -> dict[str, object]:
    return {
        "related": {
            name: world.related(name) for name in ("billing service", "ledger database", "alpha service")
        },
        "degrees": world.degrees(),
        "home": world.objects(),
        "use": world.objects("user", "use"),
        "triples": world.count("entity_triples"),
        "edges": world.count("entity_edges"),
    }


@pytest.mark.parametrize(
    "points",
    [
        pytest.param(("memory:landed", "degree:added"), id="some"),
        pytest.param(WRITERS, id="any", marks=pytest.mark.nightly),
    ],
)
def test_a_writer_that_dies_at_a_point_leaves_what_it_landed_whole(
    fleet: Fleet, town: World, points: list[str]
) -> None:
    """One namespace a point; the writer dies there at its first, second … write, and is not started again."""
    fleet.environment["LOOM_LLM_PROVIDER"] = "spacy"
    worlds = {}
    for point in points:
        world = World(town.store, town.settings, Scope("org", f"{point} {town.scope.namespace}"))
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("LOOM_")},
            "LOOM_CLICKHOUSE_URL": fleet.clickhouse.url, "LOOM_TESTING": "1", "LOOM_FAULT": f"{point}:exit",
        }  # fmt: skip
        command = [sys.executable, "-m", "tests.support.writer_process", world.scope.namespace]
        assert subprocess.run(command, env=environment, check=False).returncode == DIED, point
        worlds[point] = world
    since = time.monotonic()
    fleet.worker()
    fleet.beat()
    for point, world in worlds.items():
        wait_until(lambda world=world: settled(world), f"nothing waits after {point}", 120)
    note("server_killed", time.monotonic() - since)
    for point, world in worlds.items():
        write(world)  # the writer comes back and sends all of it again
        wait_until(lambda world=world: settled(world), f"nothing waits after {point}", 120)
        world.verified()
        assert not failures.listed(world.store, world.scope), point
    reference = clean_run(town)
    wait_until(lambda: settled(reference), "the clean run is settled")
    differing = {point for point, world in worlds.items() if graph(world)["home"] != graph(reference)["home"]}
    assert not differing


@pytest.mark.nightly
@pytest.mark.parametrize(
    "point",
    [
        "entity_extractor:attempt",
        "entity_extractor:answer",
        "entity_extractor:stored",
        "projection_retry:attempt",
        "projection_retry:projected",
        "supersession_replay:attempt",
        "supersession_replay:derived",
        "tick:leased",
        "tick:report",
    ],
)
def test_a_worker_that_dies_at_any_point_loses_and_doubles_nothing(
    fleet: Fleet, town: World, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    fleet.environment["LOOM_LLM_PROVIDER"] = "spacy"
    with fault(monkeypatch, "edges:insert:raise,closes:insert:raise"):
        write(town)
    dying = fleet.worker(LOOM_TESTING="1", LOOM_FAULT=f"{point}:exit")
    beat = fleet.beat()
    wait_until(
        lambda: "exited prematurely" in dying.text or "WorkerLostError" in dying.text, "a process died", 120
    )
    dying.kill()
    fleet.worker()
    wait_until(lambda: settled(town), "nothing waits", 120)
    assert beat.process.poll() is None
    town.verified()
    assert not failures.listed(town.store, town.scope), "nothing is open, nothing died of another's death"
    reference = clean_run(town)
    wait_until(lambda: settled(reference), "the clean run is settled")
    assert graph(town) == graph(reference)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("read", marks=pytest.mark.nightly),
        pytest.param("write", marks=pytest.mark.nightly),
        "written",
    ],
)
def test_a_community_pass_that_dies_is_made_again(fleet: Fleet, town: World, step: str) -> None:
    from loom_core.facts.communities import community_ids
    from loom_core.namespace.models import NamespaceConfigureRequest

    fleet.environment |= {
        "LOOM_ENTITY_COMMUNITIES_ENABLED": "true",
        "LOOM_ENTITY_COMMUNITIES_INTERVAL_S": "2",
    }
    names = [f"{word} service" for word in ("alpha", "beta", "gamma")]
    town.set("k", "text", E=names)
    town.decisions.configure(town.context, NamespaceConfigureRequest(**town.names, consolidation=True))
    dying = fleet.worker(LOOM_TESTING="1", LOOM_FAULT=f"entity_communities:{step}:exit")
    fleet.beat()
    wait_until(
        lambda: "exited prematurely" in dying.text or "WorkerLostError" in dying.text, "a process died", 120
    )
    assert community_ids(town.store, town.scope, names) == {}
    dying.kill()
    fleet.worker()
    wait_until(lambda: len(community_ids(town.store, town.scope, names)) == 3, "the pass is made", 120)


def test_an_erasure_that_dies_is_finished_and_final(fleet: Fleet, town: World) -> None:
    """D36."""
    fleet.environment["LOOM_LLM_PROVIDER"] = "spacy"
    write(town)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("LOOM_")},
        "LOOM_CLICKHOUSE_URL": fleet.clickhouse.url, "LOOM_TESTING": "1", "LOOM_FAULT": "erase:step:exit",
    }  # fmt: skip
    command = [sys.executable, "-m", "tests.support.writer_process", town.scope.namespace, "k1"]
    assert subprocess.run(command, env=environment, check=False).returncode == DIED
    since = time.monotonic()
    fleet.worker()
    fleet.beat()
    erased = World(town.store, town.settings, town.scope)
    wait_until(lambda: not town.history("k1") and settled(erased), "nothing is left of it", 120)
    note("erasure_killed", time.monotonic() - since)
    assert town.objects() == {"paris": 1}
    assert "auth gateway" not in town.related("billing service")
    town.verified()


@pytest.mark.nightly
def test_an_engine_that_is_killed_and_comes_back_costs_no_row_a_try(
    fleet: Fleet, town: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D35. The owner of the embedded engine dies; writers and workers meet it away, then back."""
    fleet.environment["LOOM_LLM_PROVIDER"] = "spacy"
    worker = fleet.worker()
    fleet.beat()
    with fault(monkeypatch, "edges:insert:raise"):
        write(town)
    states = ["open", "dead", "resolved", "stale"]  # the worker may have mended some already
    tries = sum(f.attempts for f in failures.listed(town.store, town.scope, states))
    with fleet.clickhouse_killed():
        time.sleep(4)  # some sweeps meet it away
    wait_until(lambda: settled(town), "nothing waits", 120)
    town.verified()
    assert worker.process.poll() is None
    listed = failures.listed(town.store, town.scope, states)
    assert sum(f.attempts for f in listed) <= tries, [
        (f.projection, f.attempts, f.error_class) for f in listed
    ]
