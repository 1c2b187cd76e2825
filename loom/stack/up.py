"""`loom up`: the stores that are not elsewhere, the migrations, the server and the fleet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from loom.stack import parts
from loom.stack.child import ChildSpec
from loom.stack.find import StackAddresses, write_stack_file
from loom.stack.ports import free_port, is_taken
from loom.stack.run import RunFailed, run, say
from loom.stack.supervisor import ChildFailed, Supervisor
from loom_core.settings import Settings

_PORT_TRIES = 5


@dataclass(frozen=True, slots=True)
class UpOptions:
    """`port` 0 takes a free one; without the fleet there are neither workers nor beat."""

    data_dir: Path
    port: int = 7777
    workers: int = 1
    fleet: bool = True


def up(options: UpOptions) -> int:
    """Run the stack until SIGTERM or SIGINT. Returns the exit code: 0 after a clean end, else 1."""
    return run(
        options.data_dir.absolute(), lambda supervisor: _Stack(options, Settings(), supervisor).start()
    )


class _Stack:
    """One run of the stack."""

    def __init__(self, options: UpOptions, settings: Settings, supervisor: Supervisor) -> None:
        self._options = options
        self._settings = settings
        self._folder = options.data_dir.absolute()
        self._addresses: StackAddresses | None = None
        self._supervisor = supervisor

    def start(self) -> None:
        """Start everything, in order, and say so once all of it answers."""
        if self._options.port and is_taken(self._options.port):
            raise RunFailed(
                f"port {self._options.port} is in use: end what listens there, or name another: --port"
            )
        clickhouse_url = self._store("LOOM_CLICKHOUSE_URL", "http", parts.clickhouse, "clickhouse")
        redis_url = self._store("LOOM_REDIS_URL", "redis", parts.redis_server, "redis")
        stores = StackAddresses(clickhouse_url, redis_url, self._settings.base_url)
        say("migrating")
        self._supervisor.run(parts.migration(stores.environment()))

        def server_on(port: int) -> ChildSpec:
            self._addresses = StackAddresses(clickhouse_url, redis_url, f"http://127.0.0.1:{port}")
            return parts.server(self._environment(), port)

        if self._options.port:
            self._supervisor.start([server_on(self._options.port)])
        else:
            self._start_on_free_port(server_on)
        if self._options.fleet:
            self._start_fleet()
        self._supervisor.when_changed(self._write_stack_file)
        assert self._addresses is not None
        print(f"ready {self._addresses.base_url}", flush=True)

    def _store(self, setting: str, scheme: str, part: Callable[[Path, int], ChildSpec], name: str) -> str:
        given = getattr(self._settings, setting.removeprefix("LOOM_").lower())
        if given is not None:
            url: str = given.get_secret_value()
            if url.startswith("chdb:"):
                raise RunFailed(
                    f"{setting} is chdb:…, a store for one process only: unset it, loom up starts one"
                )
            return url
        port = self._start_on_free_port(lambda port: part(self._folder / name, port))
        say(f"{name} on port {port}")
        return f"{scheme}://127.0.0.1:{port}" + ("/0" if scheme == "redis" else "")

    def _start_on_free_port(self, part: Callable[[int], ChildSpec]) -> int:
        """Start a child on a free port; on another one where a stranger took it meanwhile."""
        for tries_left in reversed(range(_PORT_TRIES)):
            port = free_port()
            try:
                self._supervisor.start([part(port)])
            except ChildFailed:
                if not tries_left or not is_taken(port):
                    raise
            else:
                return port
        raise AssertionError("the last try returns or raises")

    def _start_fleet(self) -> None:
        environment = self._environment()
        folder = self._folder
        workers = [parts.worker(environment, folder, number + 1) for number in range(self._options.workers)]
        say(f"starting {len(workers)} worker{'s' * (len(workers) != 1)} and beat")
        self._supervisor.start([*workers, parts.beat(environment, folder)])

    def _environment(self) -> dict[str, str]:
        assert self._addresses is not None
        return {**self._addresses.environment(), "LOOM_DATA_DIR": str(self._folder)}

    def _write_stack_file(self) -> None:
        assert self._addresses is not None
        write_stack_file(self._folder, self._addresses, self._supervisor.pids())
