"""`python -m loom_core.server --host H --port P`: the HTTP server as one process."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable

import uvicorn
from pydantic import ValidationError

from loom_core.collector import collect_rarely
from loom_core.coordination.wakeups import Wake, no_wake
from loom_core.errors import Invalid, LoomError
from loom_core.server.app import build_app
from loom_core.server.http import is_loopback
from loom_core.server.logs import configure
from loom_core.server.services import build
from loom_core.settings import Settings, get_settings
from loom_core.wire import problems

MakeWake = Callable[[Settings], Wake]

GRACE_S = 20
"""How long calls in hand may take after SIGTERM; under the 30 s that process managers usually give."""


def check_host(settings: Settings, host: str) -> None:
    """Raises `Invalid` where a server without tokens would be open to the network."""
    if settings.auth_secret is None and not is_loopback(host):
        raise Invalid(
            "open_server", f"{host} is reachable from outside: set LOOM_AUTH_SECRET, or bind to 127.0.0.1"
        )


def serve(settings: Settings, host: str, port: int, make_wake: MakeWake | None = None) -> None:
    """Serve until SIGTERM or SIGINT; then finish the calls in hand and close the stores' connections."""
    check_host(settings, host)
    configure(settings)
    collect_rarely()
    app = build_app(settings, build(settings, make_wake(settings) if make_wake else no_wake))
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )


def main(make_wake: MakeWake | None = None) -> int:
    """Exit code 2 on bad usage, 1 where the configuration does not stand.

    `make_wake` gives the process's way to wake the fleet after a write; without it the next beat finds the
    row.
    """
    parser = argparse.ArgumentParser(
        prog="python -m loom_core.server", description="Serve Loom's ops over HTTP and MCP."
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to bind to (default: %(default)s)")
    parser.add_argument("--port", type=int, default=7777, help="port to bind to (default: %(default)s)")
    arguments = parser.parse_args()
    # uvicorn raises the signal that stopped it once more when it is done: that is a clean end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        serve(get_settings(), arguments.host, arguments.port, make_wake)
    except LoomError as error:
        print(error.message, file=sys.stderr)
        return 1
    except ValidationError as error:
        print(problems(error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
