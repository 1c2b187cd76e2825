"""What further worker processes add: rows a second of 1, 2 and 4 of them, against a model that takes a second a row.

    python -m tests.benchmarks.bench_scale_out [--rows 240]

Each process keeps four calls in flight, so that waiting for the model, not this machine's processors, is the limit of
one. The namespaces are spread over 16 shards, as those of many tenants are.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from loom_core.storage.store import Store
from tests.support.fleet import running_fleet
from tests.support.fleet_fixtures import bulk
from tests.support.llm_stub import LLMStub, naming, with_llm
from tests.support.servers import wait_until
from tests.support.world import World

NAMESPACES = 48
LATENCY_S, CALLS = 1.0, 4
WARM = 0.2
"""The share of rows read before the clock starts: processes load the model's library at their first row."""


def rows_a_second(folder: Path, workers: int, rows: int) -> float:
    """Measured over the last four fifths of the rows."""
    with running_fleet(folder) as fleet, LLMStub(default=naming, latency_s=LATENCY_S) as stub:
        with_llm(fleet.environment, stub)
        fleet.environment |= {
            "LOOM_ENTITY_EXTRACT_CONCURRENCY": str(CALLS),
            "LOOM_ENTITY_EXTRACT_BATCH": str(CALLS),
            "LOOM_ENTITY_EXTRACT_INTERVAL_S": "1",
        }
        settings = fleet.settings()
        store = Store(settings)
        for _ in range(NAMESPACES):
            bulk(World(store, settings), rows // NAMESPACES)

        def tagged() -> int:
            return int(store.rows("SELECT count() FROM loom.memory_extractions FINAL")[0][0])

        for _ in range(workers):
            fleet.worker("--hostname", f"{os.urandom(4).hex()}@%h")
        fleet.beat()
        wait_until(lambda: tagged() >= WARM * rows, "the processes are warm", 300)
        before, began = tagged(), time.monotonic()
        wait_until(lambda: tagged() >= rows * 0.95, "most rows are read", 900)
        rate = (tagged() - before) / (time.monotonic() - began)
        store.close()
        return rate


def main() -> None:
    parser = argparse.ArgumentParser(description="Throughput by number of worker processes.")
    parser.add_argument("--rows", type=int, default=480)
    rows = parser.parse_args().rows
    alone = 0.0
    for workers in (1, 2, 4):
        with tempfile.TemporaryDirectory() as folder:
            rate = rows_a_second(Path(folder), workers, rows)
        alone = alone or rate
        print(f"{workers} worker processes: {rate:.1f} rows/s, {rate / alone:.2f} times one", flush=True)


if __name__ == "__main__":
    main()
