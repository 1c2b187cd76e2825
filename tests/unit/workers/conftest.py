from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import fakeredis
import pytest

from loom_core.coordination.work import Deadline, Handled
from loom_core.settings import Settings
from loom_core.tenancy import Scope
from workers import process
from workers.parts import Parts
from workers.spec import LATER, WorkerSpec


class RunsTable:
    """`worker_runs`, the one table a tick itself reads and writes."""

    def __init__(self) -> None:
        self.runs: dict[tuple[str, int], dict[str, Any]] = {}

    def rows(self, _: str, worker: str, shard: int) -> list[tuple[Any, ...]]:
        run = self.runs.get((worker, shard))
        return [(run["last_run_at"], run["last_outcome"], run["fence"])] if run else []

    def insert(self, _: str, columns: tuple[str, ...], rows: list[list[Any]]) -> None:
        for row in rows:
            run = dict(zip(columns, row, strict=True))
            key = (run["worker"], run["shard"])
            if key not in self.runs or self.runs[key]["ver"] <= run["ver"]:
                self.runs[key] = run


@dataclass
class Backlogs:
    """Work that consists of so many rows a namespace; `batch` a turn. `on_batch` runs before each."""

    rows: dict[Scope, int]
    batch: int = 10
    on_batch: Callable[[Scope], Handled | None] = lambda _: None
    served: list[Scope] = field(default_factory=list)

    def due(self) -> Collection[Scope]:
        return [scope for scope, left in self.rows.items() if left]

    def handle(self, scope: Scope, deadline: Deadline) -> Handled:
        self.served.append(scope)
        stated = self.on_batch(scope)
        if stated is not None:
            return stated
        done = min(self.batch, self.rows[scope])
        self.rows[scope] -= done
        return Handled(done, more=self.rows[scope] > 0)


@dataclass
class Bench:
    """A worker with fake work on a fake Redis; `woken` are the wake-ups that were sent."""

    work: Backlogs
    parts: Parts
    spec: WorkerSpec
    runs: RunsTable
    woken: list[tuple[str, int]]


@pytest.fixture
def bench() -> Iterator[Callable[..., Bench]]:
    client = fakeredis.FakeRedis(decode_responses=True)

    def make(rows: dict[Scope, int], **more: Any) -> Bench:
        settings = more.pop("settings", Settings(shards=1))
        work = Backlogs(rows, **more)
        woken: list[tuple[str, int]] = []
        parts, runs = Parts(settings), RunsTable()
        vars(parts).update(store=runs, redis=client, wake=lambda worker, shard: woken.append((worker, shard)))
        spec = WorkerSpec(
            "entity_extractor",
            "",
            "entity_extract_enabled",
            "entity_extract_interval_s",
            LATER,
            lambda _: work,
        )
        return Bench(work, parts, spec, runs, woken)

    yield make
    process.stopping.clear()
