"""The write path against the cheapest way of getting the same rows in, on the same engine in the same run."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loom_core.collector import collect_rarely
from loom_core.memory.rows import COLUMNS
from loom_core.projection import degree, edges, slots
from loom_core.settings import Settings
from loom_core.storage.migrate import migrate
from loom_core.storage.store import Store
from tests.support.servers import clickhouse_owner
from tests.support.world import World

ROWS = 10_000
ROUNDS = 3
POINTS = 200
MEMORY_COLUMNS = ("org", "namespace", *COLUMNS, "first_wins")


def main() -> None:
    """Prints both ratios with their goals, in a process set up as the server's is."""
    collect_rarely()
    with tempfile.TemporaryDirectory() as folder, clickhouse_owner(Path(folder) / "ch") as owner:
        settings = Settings(clickhouse_url=f"http://127.0.0.1:{owner.port}", clickhouse_receive_timeout_s=300)
        store = Store(settings)
        migrate(store, settings)
        _bulk(store, settings)
        _point(store, settings)


def entries(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """`count` entries with 5 entities and 2 relations each."""
    rng = random.Random(seed)
    names = [f"service {rng.randrange(10**6)} unit{i}x" for i in range(4000)]
    return [
        {
            "memory_key": f"k{i}",
            "value": f"note number {i}",
            "entities": rng.sample(names, 5),
            "relations": [["user", "use", rng.choice(names)], [rng.choice(names), "depends_on", rng.choice(names)]],
        }
        for i in range(count)
    ]  # fmt: skip


def _bulk(store: Store, settings: Settings) -> None:
    ours, base = zip(*(_bulk_round(store, settings, seed) for seed in range(ROUNDS)), strict=True)
    a, b = statistics.median(ours), statistics.median(base)
    print(
        f"set_many of {ROWS} rows: {a:.2f} s; the finished rows in bulk: {b:.2f} s; ratio {a / b:.2f} (goal: at most 3; medians of {ROUNDS})"
    )


def _bulk_round(store: Store, settings: Settings, seed: int) -> tuple[float, float]:
    """Seconds of one `set_many`, and of inserting what it left, into another namespace."""
    world = World(store, settings)
    rows = entries(ROWS, seed)
    ours = _seconds(lambda: world.set_many(*rows))
    tables = {
        "entity_edges": edges.EDGE_COLUMNS,
        "entity_canonical_map": edges.MENTION_COLUMNS,
        "entity_degree": degree.DEGREE_COLUMNS,
        "entity_triples": slots.TRIPLE_COLUMNS,
        "memory": MEMORY_COLUMNS,
    }
    finished = {table: _rows(world, table, columns) for table, columns in tables.items()}
    copy = World(store, settings)
    for lines in finished.values():
        for line in lines:
            line[1] = copy.scope.namespace

    def bulk() -> None:
        for table, lines in finished.items():
            store.insert(table, tables[table], lines)

    return ours, _seconds(bulk)


def _point(store: Store, settings: Settings) -> None:
    world = World(store, settings)
    rows = entries(POINTS, seed=2)
    for entry in rows[:20]:
        world.set(f"warm{entry['memory_key']}", entry["value"], entry["entities"])
    lines = _rows(world, "memory", MEMORY_COLUMNS)
    ours, base = [], []
    for number, entry in enumerate(rows):
        ours.append(
            _seconds(lambda entry=entry: world.set(entry["memory_key"], entry["value"], entry["entities"]))
        )
        line = list(lines[0])
        line[2] = f"copy{number}"
        base.append(_seconds(lambda line=line: store.insert("memory", MEMORY_COLUMNS, [line])))
    a, b = statistics.median(ours), statistics.median(base)
    print(
        f"memory.set median {a * 1000:.1f} ms; a single-row insert {b * 1000:.1f} ms; ratio {a / b:.1f} (goal: under 12)"
    )


def _rows(world: World, table: str, columns: tuple[str, ...]) -> list[list[Any]]:
    sql = f"SELECT {', '.join(columns)} FROM loom.{table} WHERE org = {{org:String}} AND namespace = {{namespace:String}}"
    return [list(row) for row in world.store.rows(sql, **world.names)]


def _seconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
