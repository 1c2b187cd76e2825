"""`python -m loom.serve --host H --port P`: the HTTP server, with the fleet's wake-ups handed in."""

from __future__ import annotations

import sys

from loom_core.server.__main__ import main
from workers.wake import make_wake

if __name__ == "__main__":
    sys.exit(main(make_wake))
