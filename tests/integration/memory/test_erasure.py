"""Erasure (D36) and expiry (D28): every trace goes, what others attest stays, nothing returns."""

from __future__ import annotations

import pytest

from loom_core.errors import Unavailable
from loom_core.extraction import answer_key
from loom_core.memory.erase import erase, resume
from loom_core.recovery.retry import retry_batch
from loom_core.settings import Settings
from loom_core.storage.store import Store
from tests.support.short_form import briefly
from tests.support.world import World, fault

PAIR = ["zanzibar service", "quagga database"]
WORDS = ("zanzibar", "quagga", "kestrel")


def traces(world: World) -> dict[str, int]:
    """Rows of any table in which a word of the erased memory still stands, merged or not."""
    found = {}
    tables = world.store.rows(
        "SELECT DISTINCT table FROM system.columns WHERE database = 'loom' AND name = 'namespace' "
        "AND table NOT LIKE '%_view' AND table NOT LIKE '.inner%'"
    )
    for (table,) in tables:
        columns = [
            name
            for (name,) in world.store.rows(
                "SELECT name FROM system.columns WHERE database = 'loom' AND table = {table:String} "
                "AND (type LIKE '%String%')",
                table=table,
            )
        ]
        text = " || ' ' || ".join(f"toString(`{column}`)" for column in columns)
        matches = " OR ".join(f"positionCaseInsensitive({text}, '{word}') > 0" for word in WORDS)
        count = world.store.rows(
            f"SELECT count() FROM loom.`{table}` WHERE org = {{org:String}} AND namespace = {{namespace:String}} "
            f"AND ({matches})",
            **world.names,
        )[0][0]
        if count:
            found[table] = count
    return found


def test_no_table_keeps_a_trace_of_an_erased_row(world: World) -> None:
    world.set(
        "zanzibar/1", "The zanzibar service reads the quagga database.", PAIR, [["user", "own", "kestrel"]]
    )
    world.set("zanzibar/1", "It still does, says the kestrel.", PAIR, [["user", "own", "kestrel"]])
    world.restore("zanzibar/1")
    world.set("other", "text", ["alpha", "beta"])
    assert traces(world)
    answer = world.erase("zanzibar/1")
    assert answer.found and answer.done and answer.erased["memory"] == 2
    assert traces(world) == {}
    assert world.degrees() == {"alpha": 1, "beta": 1}
    world.verified()


def test_a_name_that_is_gone_leaves_the_hubs_of_the_last_pass(world: World) -> None:
    world.set("k1", "text", PAIR)
    columns = ("org", "namespace", "pass_id", "dropped", "ver")
    world.store.insert("community_passes", columns, [[*world.names.values(), "1", ["alpha", PAIR[0]], 1]])
    world.erase("k1")
    assert traces(world) == {}
    sql = "SELECT dropped FROM loom.community_passes WHERE org = {org:String} AND namespace = {namespace:String}"
    assert world.store.rows(sql, **world.names) == [(["alpha"],)]


def test_a_fact_that_another_row_attests_stays(world: World) -> None:
    """B69."""
    for key in ("k1", "k2"):
        world.set(key, key, PAIR, [["user", "own", "kestrel"]])
    world.erase("k1")
    [row] = world.list(subject="user", include_sources=True)
    assert (row.co_occur, row.sources) == (1, ["k2"])
    world.erase("k2")
    assert world.list(subject="user") == []
    assert traces(world) == {}


def test_the_fleet_brings_nothing_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """B72."""
    settings = Settings(projection_retry_base_delay_s=0, projection_retry_orphan_after_s=0)
    with fault(monkeypatch, "edges:insert:raise"):
        world.set("k1", "text", PAIR, [["user", "own", "kestrel"]])
    world.erase("k1")
    for _ in range(3):
        retry_batch(world.store, world.scope, settings)
        resume(world.store, world.scope, settings)
    assert world.related("zanzibar service") == {}
    assert traces(world) == {}
    assert world.get("k1").found is False


@pytest.mark.parametrize("step", briefly(range(1, 19), range(1, 19, 4)))
def test_an_erasure_that_dies_at_any_step_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    world.set("k0", "text", PAIR, [["user", "live_in", "oslo"]])
    world.set("k1", "text", [*PAIR, "kestrel"], [["user", "live_in", "kestrel"]], supersedes=["k0"])
    reached = 0

    def die(part: str, name: str) -> None:
        nonlocal reached
        reached += part == "erase"
        if part == "erase" and reached == step:
            raise RuntimeError("the process died here")

    with monkeypatch.context() as patch:
        patch.setattr("loom_core.memory.erase.faults.reach", die)
        with pytest.raises(RuntimeError, match="died here"):
            world.erase("k1")
    assert resume(world.store, world.scope, world.settings) == 1
    assert world.related("zanzibar service") == {"quagga database": 1}
    assert world.objects() == {"oslo": 1}
    assert world.degrees() == {"zanzibar service": 1, "quagga database": 1}
    world.verified()


def test_cached_answers_go_too_and_an_erasure_waits_for_redis(world: World) -> None:
    held = {answer_key("what the zanzibar service says"), "another"}

    def away(_: object) -> None:
        raise Unavailable("redis_away", "gone for a walk")

    world.set("k1", "what the zanzibar service says", PAIR)
    found, counts, done = erase(world.store, world.scope, "k1", away)
    assert (found, counts["memory"], done) == (True, 1, False)
    assert resume(world.store, world.scope, world.settings, held.difference_update) == 1
    assert held == {"another"}


def test_a_key_can_be_written_again_after_its_erasure(world: World) -> None:
    world.set("k1", "text", PAIR, [["user", "live_in", "london"]])
    world.erase("k1")
    assert world.set("k1", "text", PAIR, [["user", "live_in", "paris"]]).version == 1
    assert world.objects() == {"paris": 1}
    assert world.related("zanzibar service") == {"quagga database": 1}
    world.erase("k1")
    world.set("k1", "text", PAIR, [["user", "live_in", "rome"]])
    assert world.objects() == {"rome": 1}
    world.verified()


def test_expiry_takes_what_lies_strictly_below_the_ceiling_and_a_new_write_may_state_it_again(
    world: World, store: Store
) -> None:
    """B75."""
    for key, confidence in (("k1", 0.4), ("k2", 0.5), ("k3", 1.0)):
        world.set(
            key,
            key,
            [],
            [{"subject": "user", "relation": "own", "object": key + "x", "confidence": confidence}],
        )
    assert world.expire("no-such") == (0, 0)
    assert world.expire("caller", 0.5) == (1, 1)
    assert world.objects(relation="own") == {"k2x": 1, "k3x": 1}
    assert world.expire("caller") == (2, 2)
    assert world.objects(relation="own") == {}
    world.verified()
    assert world.get("k1").found
    world.set("k1", "again", [], [["user", "own", "k1x"]])
    assert world.objects(relation="own") == {"k1x": 1}
    world.verified()


def test_expiry_gives_back_what_the_expired_had_closed(world: World) -> None:
    """T14."""
    world.set(
        "k1",
        "a",
        [],
        [{"subject": "user", "relation": "live_in", "object": "london", "valid_from": "2025-01-01"}],
    )
    world.set("k2", "b", [], [{"subject": "user", "relation": "live_in", "object": "paris", "valid_from": "2025-03-01",
                               "confidence": 0.3}])  # fmt: skip
    assert world.objects() == {"paris": 1}
    world.expire("caller", 0.5)
    assert world.objects() == {"london": 1}
    assert world.objects(as_of="2025-04-01T00:00:00Z") == {"london": 1}
    world.verified()
