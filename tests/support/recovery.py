"""How long the fleet takes to be whole again after a fault, and that it is."""

from __future__ import annotations

import json
import os
import time

from tests.faults.outcomes import FAULTS
from tests.support.fleet_fixtures import hub_is_whole, settled
from tests.support.servers import wait_until
from tests.support.world import World

TIMES = "LOOM_TEST_RECOVERY_TIMES"
"""Names the file that the times are added to, a JSON line each."""


def recovered(fault: str, world: World, rows: int, since: float, timeout_s: float = 180) -> None:
    """Waits until nothing waits, notes the seconds since `since` (monotonic), and looks at what `bulk` gave."""
    wait_until(lambda: settled(world), f"nothing waits after {fault}", timeout_s)
    note(fault, time.monotonic() - since)
    hub_is_whole(world, rows)


def note(fault: str, seconds: float) -> None:
    """Adds a measured time, if it is to be kept."""
    name = FAULTS[fault].name
    if TIMES in os.environ:
        with open(os.environ[TIMES], "a", encoding="utf-8") as file:
            file.write(json.dumps({"fault": name, "seconds": round(seconds, 1)}) + "\n")
