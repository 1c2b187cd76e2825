"""The owner of a chDB data folder: `python -m loom_core.embedded.clickhouse --path DIR --port N`.

One process opens the folder and serves every other one over ClickHouse's HTTP protocol.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import resource
import signal
import sys
import threading
from pathlib import Path

import click

from loom_core.embedded.config import write_config
from loom_core.embedded.folder_lock import FolderInUse, FolderLock, require_closed_engine

log = logging.getLogger("loom.clickhouse")

_GRACE_S = 10.0
_LEVELS = {
    "debug": logging.DEBUG,
    "information": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


@click.command()
@click.option("--path", type=click.Path(path_type=Path), required=True, help="Data folder; made if absent.")
@click.option("--port", type=click.IntRange(0, 65535), required=True, help="0 takes a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="A loopback address: there is no login.")
@click.option("--log-level", type=click.Choice(list(_LEVELS)), default="warning", show_default=True)
def main(path: Path, port: int, host: str, log_level: str) -> None:
    """Serve the chDB data folder PATH over ClickHouse's HTTP protocol until SIGTERM."""
    logging.basicConfig(level=_LEVELS[log_level], format="%(asctime)s %(levelname)s %(message)s")
    if not _is_loopback(host):
        raise click.BadParameter(f"{host} is not a loopback address", param_hint="--host")
    _allow_many_files()
    try:
        with FolderLock(path, "owner.lock"):
            sys.exit(_serve(path, host, port, log_level))
    except FolderInUse as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{host}:{port}, {path}: {error}") from None


def _allow_many_files() -> None:
    """A table of many parts and a fleet of clients need more than the usual 1024 open files."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _serve(path: Path, host: str, port: int, log_level: str) -> int:
    # Only the owner of the lock pays for the import of the engine.
    from loom_core.embedded.engine import Engine
    from loom_core.embedded.handler import Handler
    from loom_core.embedded.outcome import EngineError
    from loom_core.embedded.running import Running
    from loom_core.embedded.server import Server

    require_closed_engine(path)
    stop = threading.Event()
    config = path / "owner.xml"
    write_config(config)
    try:
        engine = Engine(path, config, log_level)
    except EngineError as error:
        raise click.ClickException(f"{path} can't be opened: {error}") from None
    running = Running(engine.kill)
    server = Server(Handler(engine, running), running, host, port)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    server.start()
    print(f"listening on http://{f'[{host}]' if ':' in host else host}:{server.port}", flush=True)
    stop.wait()
    if not server.stop(_GRACE_S):
        log.error("a query can't be ended: leaving it; the data folder survives that")
        os._exit(1)
    engine.close()
    return 0


if __name__ == "__main__":
    main()
