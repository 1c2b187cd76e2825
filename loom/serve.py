"""`python -m loom.serve --host H --port P`: the HTTP server, with the fleet's wake-ups handed in."""

from __future__ import annotations

import sys

from loom_core.coordination.wakeups import Wake, no_wake
from loom_core.server.__main__ import main
from loom_core.settings import Settings
from workers.wake import make_wake


def wake_of(settings: Settings) -> Wake:
    """The fleet's wake-ups, where the settings name a Redis to send them through."""
    return make_wake(settings) if settings.redis_url else no_wake


if __name__ == "__main__":
    sys.exit(main(wake_of))
