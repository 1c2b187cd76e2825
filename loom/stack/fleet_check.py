"""Waits until as many Celery workers answer as the argument says: `python -m loom.stack.fleet_check N`."""

from __future__ import annotations

import sys

from workers.app import app

_REPLY_WAIT_S = 1.0


def main() -> None:
    """Ask until enough of them have answered at once. Whoever started this limits its time."""
    wanted = int(sys.argv[1])
    while len(app.control.ping(timeout=_REPLY_WAIT_S, limit=wanted)) < wanted:
        pass


if __name__ == "__main__":
    main()
