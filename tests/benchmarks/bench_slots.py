"""Slots: a write into a crowded slot beside one into an empty slot; a replay of many slots."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from loom_core.projection.replay import replay_closes
from loom_core.settings import Settings
from loom_core.storage.migrate import migrate
from loom_core.storage.store import Store
from tests.support.servers import clickhouse_owner
from tests.support.world import World

CROWD = 1_000
SLOTS = 10_000
WRITES = 40


def main() -> None:
    """Prints both figures with their goals."""
    with tempfile.TemporaryDirectory() as folder, clickhouse_owner(Path(folder) / "ch") as owner:
        settings = Settings(clickhouse_url=f"http://127.0.0.1:{owner.port}", clickhouse_receive_timeout_s=300)
        store = Store(settings)
        migrate(store, settings)
        _crowded(World(store, settings))
        _replay(World(store, settings))


def _crowded(world: World) -> None:
    rows = [_states(f"crowd{n}", "user", f"city {n}x", n) for n in range(CROWD)]
    world.set_many(*rows)
    into: dict[str, list[float]] = {"empty": [], "crowded": []}
    for n in range(WRITES):
        for kind, subject in (("empty", f"person {n}x"), ("crowded", "user")):
            relation = _states("", subject, f"town {n}x", CROWD + n)["relations"]
            started = time.perf_counter()
            world.set(f"{kind}{n}", "text", [], relation)
            into[kind].append(time.perf_counter() - started)
    empty, crowded = statistics.median(into["empty"]), statistics.median(into["crowded"])
    print(
        f"a write into an empty slot: {empty * 1000:.1f} ms; into one with {CROWD} statements: "
        f"{crowded * 1000:.1f} ms; ratio {crowded / empty:.2f} (goal: at most 2)"
    )


def _replay(world: World) -> None:
    world.set_many(*(_states(f"k{n}", f"person {n}x", "paris", 1) for n in range(SLOTS)))
    started = time.perf_counter()
    changed = replay_closes(world.store, world.scope, None, 0, False, lambda *_: None)
    rate = SLOTS / (time.perf_counter() - started)
    print(
        f"a replay of {SLOTS} slots: {rate:.0f} slots a second (goal: at least 500); {len(changed)} changed"
    )


def _states(key: str, subject: str, city: str, day: int) -> dict[str, object]:
    start = f"{2000 + day // 300:04d}-{1 + day // 28 % 10:02d}-{1 + day % 28:02d}"
    relation = {"subject": subject, "relation": "live_in", "object": city, "valid_from": start}
    return {"memory_key": key, "value": f"{subject} {city}", "entities": [], "relations": [relation]}


if __name__ == "__main__":
    main()
