"""A real fleet for tests: a Redis server, the embedded engine's owner, Celery workers and beats as processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis

from loom_core.settings import Settings
from loom_core.storage.migrate import migrate
from loom_core.storage.store import Store
from tests.support.servers import (
    START_TIMEOUT_S,
    ServerProcess,
    clickhouse_answers,
    clickhouse_owner,
    redis_server,
    wait_until,
)

STOP_S = 60.0


@dataclass
class FleetProcess:
    """A Celery process, leader of a group of its own."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def text(self) -> str:
        """Its log so far."""
        return self.log.read_text(errors="replace")

    def children(self) -> list[int]:
        """Process ids of its pool."""
        found = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(pid) for pid in found if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def stop(self) -> int:
        """SIGTERM; its exit code."""
        self.process.terminate()
        return self.process.wait(STOP_S)

    def kill(self) -> None:
        """SIGKILL, the pool included."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(STOP_S)


@dataclass
class Fleet:
    """The stores and the processes that work on them; `environment` goes to those started from now on."""

    clickhouse: ServerProcess
    redis: ServerProcess
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    processes: list[FleetProcess] = field(default_factory=list)

    def settings(self, **more: Any) -> Settings:
        """The settings of a process beside the fleet."""
        return Settings(clickhouse_url=self.clickhouse.url, redis_url=f"{self.redis.url}/0", **more)

    def client(self) -> redis.Redis:
        """A client of the fleet's Redis."""
        return redis.Redis.from_url(f"{self.redis.url}/0", decode_responses=True)

    def worker(
        self,
        *options: str,
        concurrency: int = 1,
        code: Path | None = None,
        ready_s: float = START_TIMEOUT_S,
        **environment: str,
    ) -> FleetProcess:
        """A worker that takes messages; of this checkout's code, or of the one in the folder `code`."""
        command = ["worker", "--concurrency", str(concurrency), *options]
        worker = self._start("worker", command, environment, code)
        wait_until(lambda: " ready." in worker.text, "the worker is ready", ready_s)
        return worker

    def beat(self, **environment: str) -> FleetProcess:
        """A beat."""
        return self._start("beat", ["beat"], environment)

    @contextmanager
    def clickhouse_killed(self) -> Iterator[None]:
        """The engine's owner is dead for as long as the block lasts, and then back on its port."""
        self.clickhouse.kill()
        yield
        command = list(self.clickhouse.process.args)  # type: ignore[arg-type]
        command[command.index("--port") + 1] = str(self.clickhouse.port)
        with self.clickhouse.errors.open("ab") as log:
            self.clickhouse.process = subprocess.Popen(command, stdout=log, stderr=log)
        wait_until(lambda: clickhouse_answers(self.clickhouse.url), "the engine answers again")

    def _start(
        self, name: str, command: list[str], environment: dict[str, str], code: Path | None = None
    ) -> FleetProcess:
        log = self.folder / f"{name}-{len(self.processes)}.log"
        own = {"LOOM_CLICKHOUSE_URL": self.clickhouse.url, "LOOM_REDIS_URL": f"{self.redis.url}/0"}
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("LOOM_")}
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "celery", "-A", "workers.app", *command],
                env={**inherited, **own, **self.environment, **environment},
                cwd=code,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        started = FleetProcess(f"{name}-{len(self.processes)}", process, log)
        self.processes.append(started)
        return started


@contextmanager
def running_fleet(folder: Path) -> Iterator[Fleet]:
    """Migrated stores and no process yet; whatever a test starts is ended with them."""
    with clickhouse_owner(folder / "clickhouse") as clickhouse, redis_server(folder / "redis") as redis_:
        fleet = Fleet(clickhouse, redis_, folder)
        store = Store(fleet.settings())
        migrate(store, fleet.settings())
        store.close()
        try:
            yield fleet
        finally:
            for process in fleet.processes:
                process.kill()
