"""The product's invariants, each by its number; those about processes and leases are held in tests/integration/fleet."""

from __future__ import annotations

import random
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from loom_core import faults
from loom_core.faults import InjectedFault
from loom_core.memory.rows import digest
from loom_core.projection.due import waiting
from loom_core.projection.inputs import read_context, read_keys
from loom_core.projection.plan import make_plan
from loom_core.projection.project import project, project_keys, run
from loom_core.projection.units import Unit
from loom_core.projection.verify import repair, verify
from loom_core.recovery.retry import due_scopes, retry_batch
from loom_core.settings import Settings
from loom_core.storage import statements
from loom_core.storage.store import Store
from tests.support.graph_seen import drop_graph, graph_of
from tests.support.world import World, fault

PAIR = ["billing service", "ledger database", "invoice"]


def write_history(world: World) -> None:
    """Versions, an Undo, a deletion, a supersession across keys, competing values."""
    world.set("k1", "a", PAIR, [["user", "live_in", "london"], ["user", "use", "redis"]])
    world.set("k1", "b", PAIR[:2], [["user", "use", "redis"]])
    world.set("k2", "c", PAIR[1:], [["user", "live_in", "paris"]])
    world.restore("k1")
    world.set("k3", "d", PAIR, [["user", "live_in", "rome"]], supersedes=["k2"])
    world.set("k4", "e", PAIR)
    world.delete("k4")


def test_invariant_1_the_graph_can_be_rebuilt_from_the_inputs_alone(world: World) -> None:
    write_history(world)
    before = graph_of(world)
    drop_graph(world)
    report = verify(world.store, world.scope)
    assert not report.clean
    assert repair(world.store, world.scope, report).clean
    assert graph_of(world) == before


def test_invariant_2_the_write_never_fails_for_the_graphs_sake(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = (
        "mentions:insert:raise,edges:insert:raise,degree:freeze:raise,triples:insert:raise,facts:insert:raise"
    )
    with fault(monkeypatch, steps + ",receipts:insert:raise,store:insert_memory_projection_failures:raise"):
        answer = world.set("k1", "text", PAIR, [["user", "use", "redis"]])
    assert set(answer.degraded) == {"mentions", "edges", "degree", "triples", "closes", "facts", "receipts"}
    assert world.get("k1").value == "text"
    settings = Settings(projection_retry_base_delay_s=0, projection_retry_orphan_after_s=0)
    retry_batch(world.store, world.scope, settings)
    assert world.related("invoice") == {"billing service": 1, "ledger database": 1}
    world.verified()


def test_invariant_3_projecting_twice_is_projecting_once(world: World) -> None:
    write_history(world)
    before = graph_of(world)
    for _ in range(3):
        project_keys(world.store, world.scope, ["k1", "k2", "k3", "k4"])
        for key in ("k1", "k2"):
            rows = read_keys(world.store, world.scope, [key])[key].rows
            units = [Unit(row.memory_id, "row", key, row.memory_id, row.arrival) for row in rows]
            project(world.store, world.scope, units)
    assert graph_of(world) == before


@pytest.mark.parametrize("seed", range(6))
def test_invariant_4_the_order_in_which_rows_are_projected_does_not_matter(
    world: World, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """All rows land, none is projected; then they are, in any order and by two projectors at once."""
    with monkeypatch.context() as patch:
        patch.setattr(
            "loom_core.memory.writer.project", lambda *_: (_ for _ in ()).throw(RuntimeError("later"))
        )
        for number, city in enumerate(("london", "paris", "london", "rome")):
            relation = {
                "subject": "user",
                "relation": "live_in",
                "object": city,
                "valid_from": f"2025-0{number + 1}-01",
            }
            world.set(f"k{number}", city, PAIR, [relation])
        world.set("k1", "again", PAIR[:2])
    keys = ["k0", "k1", "k2", "k3"] * 2
    random.Random(seed).shuffle(keys)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda key: project_keys(world.store, world.scope, [key]), keys))
    assert world.objects() == {"rome": 1}
    assert world.objects(as_of="2025-03-15T00:00:00Z") == {"london": 2}
    assert world.objects(as_of="2025-02-15T00:00:00Z") == {"paris": 1}
    world.verified()


def test_invariant_4_a_stale_projector_cannot_overwrite_a_better_informed_one(world: World) -> None:
    world.set("k1", "a", PAIR, [["user", "live_in", "london"]])
    stale = make_plan(
        read_keys(world.store, world.scope, ["k1"]), read_context(world.store, world.scope), None
    )
    world.set("k1", "b", PAIR[:2], [["user", "live_in", "paris"]])
    before = graph_of(world)
    run(world.store, world.scope, stale)
    after = graph_of(world)
    assert {table: after[table] for table in after if table != "degree"} == {
        table: before[table] for table in before if table != "degree"
    }
    assert after["degree"] == before["degree"]


def test_invariant_7_done_is_written_last(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with fault(monkeypatch, "receipts:insert:raise"):
        world.set("k1", "text", PAIR)
    assert world.count("projection_receipts") == 0
    assert world.related("invoice") == {"billing service": 1, "ledger database": 1}


def test_invariant_9_two_projectors_of_one_row_at_once_leave_one_observation(world: World) -> None:
    """What a paused holder of a lease and its heir do."""
    write_history(world)
    before = graph_of(world)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: project_keys(world.store, world.scope, ["k1", "k2", "k3"]), range(8)))
    assert graph_of(world) == before


SCOPED = re.compile(
    r"FROM\s+loom\.(\w+)(?:\s+FINAL)?(?:\s+AS\s+\w+)?\s+(?:PREWHERE|WHERE)\s+(.*?)(?=\n(?:GROUP|ORDER|LIMIT|\))|$)",
    re.DOTALL,
)
FIRST_TWO = re.compile(
    r"(?:\w+\.)?org\s*=\s*\{+org:String\}+\s+AND\s+(?:\w+\.)?namespace\s*=\s*\{+namespace:String\}+"
)
UNSCOPED = {"llm_spend", "worker_runs", "migrations"}
"""Tables of the installation, not of a tenant."""
FLEETS_OWN = {"fleet", "doctor", "metrics"}
"""Files whose statements span tenants; they return names and counts, never data."""
SPAN_TENANTS = {
    "community_pass.consolidated",
    "community_pass.walked",
    "community_pass.looked_at",
    "projection.batches_since",
}
"""The same, single statements: the namespaces to cluster; how many inserts a table has seen."""


def statement_files() -> list[str]:
    from importlib import resources

    folder = resources.files("loom_core.storage") / "queries"
    return sorted(
        entry.name.removesuffix(".sql") for entry in folder.iterdir() if entry.name.endswith(".sql")
    )


@pytest.mark.parametrize("file", [name for name in statement_files() if name not in FLEETS_OWN])
def test_invariant_10_every_statement_names_org_and_namespace_first(file: str) -> None:
    for name, text in statements._blocks(file).items():
        if f"{file}.{name}" in SPAN_TENANTS:
            continue
        found = SCOPED.findall(text)
        for table, predicates in found:
            if table not in UNSCOPED:
                assert FIRST_TWO.match(predicates.strip()), (
                    f"{file}.{name}: FROM loom.{table} WHERE {predicates[:80]}"
                )


def test_invariant_10_two_tenants_with_the_same_names_never_meet(world: World, store: Store) -> None:
    """B76: interleaved writes of two namespaces through one service."""
    other = World(store, world.settings)
    with ThreadPoolExecutor(8) as pool:
        jobs = [
            (w, f"k{n}", name) for n in range(25) for w, name in ((world, "alpha one"), (other, "beta two"))
        ]
        list(pool.map(lambda job: job[0].set(job[1], job[2], ["hub thing", job[2]]), jobs))
    assert world.related("hub thing") == {"alpha one": 25}
    assert other.related("hub thing") == {"beta two": 25}
    assert world.degrees()["hub thing"] == other.degrees()["hub thing"] == 25


def test_invariant_12_the_same_content_has_the_same_identity_everywhere() -> None:
    assert digest("memory", "a", "bc") != digest("memory", "ab", "c")
    assert digest("x") == digest("x")


@pytest.mark.parametrize("died_at", ["frozen", "added"])
def test_invariant_6_a_projector_that_was_overtaken_and_died_counts_nothing_twice(
    world: World, monkeypatch: pytest.MonkeyPatch, died_at: str
) -> None:
    """Whoever overtook it wrote the rows' receipts, so that only its frozen batch tells of it."""
    with fault(monkeypatch, "memory:landed:raise"), pytest.raises(InjectedFault):
        world.set_many(*({"memory_key": f"k{n}", "value": "text", "entities": PAIR} for n in range(3)))
    rows = [
        row for each in read_keys(world.store, world.scope, ["k0", "k1", "k2"]).values() for row in each.rows
    ]
    units = [Unit(row.memory_id, "row", row.memory_key, row.memory_id, row.arrival) for row in rows]
    reached = faults.reach

    def reach(part: str, step: str) -> None:
        if (part, step) == ("degree", "freeze"):
            monkeypatch.setattr(faults, "reach", reached)
            for unit in units:
                project(world.store, world.scope, [unit])
            monkeypatch.setattr(faults, "reach", reach_death)

    def reach_death(part: str, step: str) -> None:
        if (part, step) == ("degree", died_at):
            raise KeyboardInterrupt

    monkeypatch.setattr(faults, "reach", reach)
    with pytest.raises(KeyboardInterrupt):
        project(world.store, world.scope, units)
    monkeypatch.setattr(faults, "reach", reached)
    assert (world.degrees() == dict.fromkeys(PAIR, 6)) == (died_at == "frozen")
    settings = Settings(projection_retry_orphan_after_s=0)
    assert world.scope in due_scopes(world.store, settings)
    retry_batch(world.store, world.scope, settings)
    assert world.degrees() == dict.fromkeys(PAIR, 6)
    world.verified()
    assert waiting(world.store, world.scope) == 0
