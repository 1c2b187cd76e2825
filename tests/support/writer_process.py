"""A process that writes to a namespace, or erases a key of it, and may die of a fault on the way.

`python -m tests.support.writer_process NAMESPACE [KEY]`
"""

from __future__ import annotations

import sys

from loom_core.settings import get_settings
from loom_core.storage.store import Store
from loom_core.tenancy import Scope
from tests.support.world import World


def write(world: World) -> None:
    """Every kind of input once: rows of both paths, versions, statements of one slot, an Undo, a deletion."""
    world.set("k1", "first", E=["billing service", "ledger database"], R=[["user", "live_in", "london"]])
    world.set("k1", "second", E=["billing service", "auth gateway"], R=[["user", "use", "redis"]])
    world.set("k2", "third", E=["ledger database", "auth gateway"], R=[["user", "live_in", "paris"]])
    world.set_many({"memory_key": "k3", "value": "The payment worker writes to the ledger database."})
    world.restore("k1", version=1)
    world.set("k4", "fourth", E=["alpha service", "beta service"])
    world.delete("k4")


if __name__ == "__main__":
    settings = get_settings()
    world = World(Store(settings), settings, Scope("org", sys.argv[1]))
    if len(sys.argv) > 2:
        world.erase(sys.argv[2])
    else:
        write(world)
