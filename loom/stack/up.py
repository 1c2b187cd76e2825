"""`loom up`: the stores that are not elsewhere, the migrations, the server and the fleet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import SecretStr

from loom.stack import parts
from loom.stack.child import ChildSpec
from loom.stack.find import StackAddresses, write_stack_file
from loom.stack.ports import free_port, is_taken
from loom.stack.run import RunFailed, run, say
from loom.stack.supervisor import ChildFailed, Supervisor
from loom_core.settings import Settings, load_settings

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
        options.data_dir.absolute(), lambda supervisor: _Stack(options, load_settings(), supervisor).start()
    )


class _Stack:
    """One run of the stack."""

    def __init__(self, options: UpOptions, settings: Settings, supervisor: Supervisor) -> None:
        self._options = options
        self._settings = settings
        self._supervisor = supervisor
        self._folder = options.data_dir.absolute()

    def start(self) -> None:
        """Start everything, in order, and say so once all of it answers."""
        given = self._options.port
        if given and is_taken(given):
            raise RunFailed(f"port {given} is in use: end what listens there, or choose another with --port")
        stores = StackAddresses(
            clickhouse_url=self._store("clickhouse", "http://127.0.0.1:{}", parts.clickhouse),
            redis_url=self._store("redis", "redis://127.0.0.1:{}/0", parts.redis_server),
            base_url=self._settings.base_url,
        )
        say("migrating")
        self._supervisor.run(parts.migration(self._environment(stores)))
        say("starting the server" + (", workers and beat" if self._options.fleet else ""))
        if given:
            self._supervisor.start(self._server_and_fleet(stores, given))
        port = given or self._start_on_free_port(lambda port: self._server_and_fleet(stores, port))
        addresses = _at_port(stores, port)
        pids = self._supervisor.pids
        self._supervisor.when_changed(lambda: write_stack_file(self._folder, addresses, pids()))
        print(f"ready {addresses.base_url}", flush=True)

    def _store(self, name: str, address: str, part: Callable[[Path, int], ChildSpec]) -> str:
        given: SecretStr | None = getattr(self._settings, f"{name}_url")
        if given:
            url = given.get_secret_value()
            if url.startswith("chdb:"):
                raise RunFailed("LOOM_CLICKHOUSE_URL names a store for one process (chdb:): unset it")
            return url
        port = self._start_on_free_port(lambda port: [part(self._folder / name, port)])
        say(f"{name} on port {port}")
        return address.format(port)

    def _server_and_fleet(self, stores: StackAddresses, port: int) -> list[ChildSpec]:
        environment = self._environment(_at_port(stores, port))
        children = [parts.server(environment, port)]
        if self._options.fleet:
            numbers = range(1, self._options.workers + 1)
            children += [parts.worker(environment, self._folder, number) for number in numbers]
            children.append(parts.beat(environment, self._folder))
        return children

    def _start_on_free_port(self, children: Callable[[int], list[ChildSpec]]) -> int:
        """Start children, one of them on a free port; on another one where a stranger took it meanwhile."""
        for tries_left in reversed(range(_PORT_TRIES)):
            port = free_port()
            try:
                self._supervisor.start(children(port))
            except ChildFailed:
                if not tries_left or not is_taken(port):
                    raise
            else:
                break
        return port

    def _environment(self, addresses: StackAddresses) -> dict[str, str]:
        return {**addresses.environment(), "LOOM_DATA_DIR": str(self._folder)}


def _at_port(stores: StackAddresses, port: int) -> StackAddresses:
    return replace(stores, base_url=f"http://127.0.0.1:{port}")
