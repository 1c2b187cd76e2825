"""Passes over namespaces on the real engine: whole, repeatable, and never in each other's way."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable

import pytest

from loom_core import clock
from loom_core.communities import detect
from loom_core.community_pass import coverage, reading
from loom_core.community_pass.run import NamespaceTooLarge, PassResult, run_if_changed, run_pass
from loom_core.facts.communities import community_ids
from loom_core.namespace.models import NamespaceConfigureRequest
from loom_core.settings import Settings
from loom_core.storage.store import Store
from tests.support.world import World, fault

Pair = tuple[str, str]


@pytest.fixture
def world(store: Store) -> World:
    return World(store, Settings())


def cliques(count: int, size: int = 5, hub: str | None = None) -> list[Pair]:
    names = [[f"n{c:02d}{i}" for i in range(size)] for c in range(count)]
    pairs = [pair for clique in names for pair in itertools.combinations(clique, 2)]
    return pairs + [(name, hub) for clique in names for name in clique if hub]


def observe(world: World, pairs: Iterable[Pair], *, until: int | None = None, batch: str = "") -> None:
    """Edges as a projector writes them, one observation a pair."""
    start = clock.now() - clock.SECOND
    columns = (
        "org", "namespace", "entity_a", "entity_b", "memory_id", "span", "memory_key", "value_sha256",
        "valid_from", "valid_to", "arrival", "ver",
    )  # fmt: skip
    world.store.insert(
        "entity_edges",
        columns,
        [
            [
                world.scope.org,
                world.scope.namespace,
                *sorted(pair),
                f"{batch}{i}",
                0,
                "k",
                "",
                start,
                until,
                start,
                1,
            ]
            for i, pair in enumerate(pairs)
        ],
    )


def labels(world: World, names: Iterable[str]) -> dict[str, int]:
    return community_ids(world.store, world.scope, names)


def passes(world: World) -> set[str]:
    rows = world.store.rows(
        "SELECT DISTINCT pass_id FROM loom.entity_communities WHERE org = {org:String} AND namespace = {namespace:String}",
        **world.names,
    )
    return {pass_id for (pass_id,) in rows}


def test_ten_cliques_behind_one_hub_are_ten_communities(world: World) -> None:
    """B44."""
    pairs = cliques(10, hub="user")
    observe(world, pairs)
    result = run_pass(world.store, world.scope, world.settings)
    assert (result.entities, result.edges, result.communities, result.dropped) == (51, 150, 10, 1)
    found = labels(world, {name for pair in pairs for name in pair})
    assert "user" not in found
    assert len(found) == 50
    assert all(len({found[f"n{c:02d}{i}"] for i in range(5)}) == 1 for c in range(10))


def test_what_is_stored_is_what_the_names_themselves_give(world: World) -> None:
    """D30: neither the hashes nor the order of the rows show."""
    random.seed(7)
    pairs = [(f"e{random.randrange(120)}", f"e{random.randrange(120)}") for _ in range(400)]
    pairs = sorted({tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1]})
    observe(world, random.sample(pairs, len(pairs)))
    run_pass(world.store, world.scope, world.settings)
    weights = [1] * len(pairs)
    expected = detect([a for a, _ in pairs], [b for _, b in pairs], weights)
    assert labels(world, {name for pair in pairs for name in pair}) == expected.labels


@pytest.mark.parametrize(
    "pairs", [[], [("alpha", "beta")]], ids=["no edges", "the hub drop takes every node"]
)
def test_a_pass_without_communities_leaves_the_previous_one_readable(world: World, pairs: list[Pair]) -> None:
    """B46, D32."""
    observe(world, cliques(3))
    run_pass(world.store, world.scope, world.settings)
    before = labels(world, ["n000", "n010"])
    world.store.command(
        "DELETE FROM loom.entity_edges WHERE org = {org:String} AND namespace = {namespace:String}",
        **world.names,
    )
    observe(world, pairs, batch="later")
    drop_all = world.settings.model_copy(
        update={"entity_communities_hub_drop_fraction": 1.0, "entity_communities_hub_drop_max": 1.0}
    )
    result = run_pass(world.store, world.scope, drop_all if pairs else world.settings)
    assert result.status == "empty"
    assert labels(world, ["n000", "n010"]) == before


def test_a_namespace_is_skipped_only_while_no_edge_began_or_ceased_to_hold(world: World) -> None:
    observe(world, cliques(3))
    assert run_if_changed(world.store, world.scope, world.settings).done == 1
    assert run_if_changed(world.store, world.scope, world.settings).done == 0
    observe(world, [("n000", "n010")], until=clock.now() + clock.SECOND, batch="soon over ")
    assert run_if_changed(world.store, world.scope, world.settings).done == 1
    while clock.now() < _end_of(world):
        pass
    assert run_if_changed(world.store, world.scope, world.settings).done == 1
    assert run_if_changed(world.store, world.scope, world.settings).done == 0
    other_rules = world.settings.model_copy(update={"entity_communities_levels": 1})
    assert run_if_changed(world.store, world.scope, other_rules).done == 1


def _end_of(world: World) -> int:
    rows = world.store.rows(
        "SELECT max(valid_to) FROM loom.entity_edges WHERE org = {org:String} AND namespace = {namespace:String}",
        **world.names,
    )
    return int(rows[0][0])


@pytest.mark.parametrize("step", ["read", "write", "written"])
def test_a_pass_that_fails_leaves_the_previous_one_readable(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    observe(world, cliques(3))
    run_pass(world.store, world.scope, world.settings)
    before = labels(world, ["n000", "n010", "n020", "n030"])
    observe(world, cliques(4), batch="more ")
    with fault(monkeypatch, f"entity_communities:{step}:raise"), pytest.raises(Exception, match="fault"):
        run_pass(world.store, world.scope, world.settings)
    assert labels(world, ["n000", "n010", "n020", "n030"]) == before
    run_pass(world.store, world.scope, world.settings)
    assert "n030" in labels(world, ["n030"])


def test_old_passes_go_and_the_last_two_stay(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    observe(world, cliques(3))
    now = clock.now()
    for number in range(5):
        monkeypatch.setattr(clock, "now", lambda at=now + number * clock.DAY: at)
        run_pass(world.store, world.scope, world.settings)
    assert len(passes(world)) == 2
    assert len(labels(world, ["n000", "n010", "n020"])) == 3


def test_a_pass_that_began_earlier_never_wins(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    observe(world, cliques(3))
    began = clock.now()
    observe(world, cliques(4), batch="more ")
    run_pass(world.store, world.scope, world.settings)
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: began)
        run_pass(world.store, world.scope, world.settings)
    assert "n030" in labels(world, ["n030"])


def test_one_namespace_leaves_the_others_alone(store: Store, world: World) -> None:
    """B49."""
    other = World(store, world.settings)
    observe(other, cliques(3))
    run_pass(store, other.scope, world.settings)
    before = labels(other, ["n000", "n010"])
    observe(world, cliques(5))
    run_pass(store, world.scope, world.settings)
    assert labels(other, ["n000", "n010"]) == before


def test_a_namespace_too_large_for_the_memory_is_refused_by_name(world: World) -> None:
    observe(world, cliques(3))
    tiny = world.settings.model_copy(update={"entity_communities_memory_mb": -1})
    with pytest.raises(NamespaceTooLarge, match="LOOM_ENTITY_COMMUNITIES_MEMORY_MB allows -1"):
        run_pass(world.store, world.scope, tiny)


def test_names_that_share_a_hash_are_hashed_with_another_seed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    observe(world, cliques(3))
    real = Store.rows

    def rows(self: Store, sql: str, **parameters: object) -> list[tuple[object, ...]]:
        found = real(self, sql, **parameters)
        if "uniqExact" in sql and parameters["prefix"] in ("", "1:"):
            return [(found[0][0], found[0][1] - 1)]
        return found

    monkeypatch.setattr(Store, "rows", rows)
    assert reading.open_graph(world.store, world.scope, clock.now()).prefix == "2:"
    assert run_pass(world.store, world.scope, world.settings).communities == 3
    assert labels(world, ["n000", "n014"]).keys() == {"n000", "n014"}


def test_covered_are_namespaces_with_consolidation_on_and_those_walked_lately(world: World) -> None:
    """D45."""
    store, settings = world.store, world.settings

    def configure(on: bool) -> None:
        world.decisions.configure(world.context, NamespaceConfigureRequest(**world.names, consolidation=on))

    assert world.scope not in coverage.covered_scopes(store, settings)
    configure(True)
    assert world.scope in coverage.covered_scopes(store, settings)
    configure(False)
    assert world.scope not in coverage.covered_scopes(store, settings)
    today = clock.instant(clock.now()).date()
    store.insert(
        "namespace_walks", ("org", "namespace", "day"), [[world.scope.org, world.scope.namespace, today]]
    )
    assert world.scope in coverage.covered_scopes(store, settings)
    never = settings.model_copy(update={"entity_communities_walked_days": -1})
    assert world.scope not in coverage.covered_scopes(store, never)


def test_a_namespace_looked_at_is_left_alone_for_half_an_interval(world: World) -> None:
    world.decisions.configure(world.context, NamespaceConfigureRequest(**world.names, consolidation=True))
    assert world.scope in coverage.due_scopes(world.store, world.settings)
    run_if_changed(world.store, world.scope, world.settings)
    assert world.scope not in coverage.due_scopes(world.store, world.settings)
    at_once = world.settings.model_copy(update={"entity_communities_interval_s": 0})
    assert world.scope in coverage.due_scopes(world.store, at_once)
    assert run_pass(world.store, world.scope, world.settings) == PassResult(
        "empty", 0, 0, 0, 0, pytest.approx(0, abs=9)
    )
