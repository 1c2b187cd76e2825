"""Aliases (D21): followed by writes and reads to the end of the chain; stored nodes move when told to."""

from __future__ import annotations

import pytest

from loom_core.errors import Conflict
from loom_core.projection.recanonicalise import recanonicalise
from tests.support.world import World


def move(world: World, dry_run: bool = False) -> list[str]:
    return recanonicalise(world.store, world.scope, dry_run, lambda *_: None)


def test_writes_and_reads_follow_a_chain_of_aliases(world: World) -> None:
    world.alias("k8s", "kube")
    world.alias("kube", "kubernetes")
    world.set("k1", "text", ["K8s", "ledger database"])
    assert world.related("kubernetes") == world.related("k8s") == {"ledger database": 1}


def test_a_cycle_is_refused_when_the_alias_is_made(world: World) -> None:
    world.alias("alpha", "beta")
    world.alias("beta", "gamma")
    with pytest.raises(Conflict, match="gamma"):
        world.alias("gamma", "alpha")


def test_stored_nodes_move_and_sums_stay(world: World) -> None:
    world.set("k1", "a", ["k8s", "ledger database"], [["k8s", "use", "etcd"]])
    world.set("k2", "b", ["kubernetes", "ledger database"])
    world.set("k3", "c", ["alpha", "beta"])
    assert world.alias("k8s", "kubernetes") == 1
    assert move(world, dry_run=True) == ["k1"]
    assert move(world) == ["k1"]
    assert move(world) == []
    assert world.related("kubernetes") == {"ledger database": 2, "etcd": 1}
    assert world.objects("kubernetes", "use") == {"etcd": 1}
    assert world.degrees() == {"kubernetes": 2, "ledger database": 2, "alpha": 1, "beta": 1}
    world.verified()


def test_a_removed_alias_moves_the_nodes_back(world: World) -> None:
    world.set("k1", "a", ["k8s", "ledger database"])
    world.alias("k8s", "kubernetes")
    move(world)
    assert world.alias("k8s", "kubernetes", remove=True) == 1
    move(world)
    assert world.related("k8s") == {"ledger database": 1}
    assert world.related("kubernetes") == {}
    assert world.degrees() == {"k8s": 1, "ledger database": 1}
    world.verified()


def test_an_alias_is_not_removed_under_the_name_of_another(world: World) -> None:
    world.alias("k8s", "kubernetes")
    with pytest.raises(Conflict, match="alias of 'kubernetes'"):
        world.alias("k8s", "node pool", remove=True)
    world.set("k", "text", E=["k8s", "node pool"])
    assert world.related("kubernetes") == {"node pool": 1}


def test_an_alias_that_makes_both_ends_one_leaves_no_self_edge(world: World) -> None:
    """B12."""
    world.set("k1", "a", ["k8s", "kubernetes", "etcd"])
    world.alias("k8s", "kubernetes")
    move(world)
    assert world.related("kubernetes") == {"etcd": 1}
    assert world.degrees() == {"kubernetes": 1, "etcd": 1}
    world.verified()


def test_erasing_a_row_takes_its_mentions_and_never_an_alias(world: World) -> None:
    world.alias("k8s", "kubernetes")
    world.set("k1", "a", ["k8s", "etcd"])
    world.erase("k1")
    assert world.count("entity_canonical_map") == 0
    world.set("k2", "b", ["k8s", "etcd"])
    assert world.related("kubernetes") == {"etcd": 1}
