"""What a pool process works with, made at first use and therefore after the process was spawned."""

from __future__ import annotations

import contextlib
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from loom_core.settings import Settings, get_settings

if TYPE_CHECKING:
    import redis

    from loom_core.coordination.leases import Leases
    from loom_core.coordination.wakeups import Wake
    from loom_core.coordination.work import Work
    from loom_core.storage.store import Store
    from workers.spec import WorkerSpec


class Parts:
    """The stores and coordination of one process. Nothing is imported or connected before it is asked for."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._works: dict[str, Work] = {}

    @cached_property
    def store(self) -> Store:
        """ClickHouse."""
        from loom_core.storage.store import Store

        return Store(self.settings)

    @cached_property
    def redis(self) -> redis.Redis:
        """Redis, answering strings."""
        from loom_core.coordination.connection import connect_redis

        return connect_redis(self.settings)

    @cached_property
    def leases(self) -> Leases:
        """The fleet's leases."""
        from loom_core.coordination.leases import Leases

        return Leases(self.redis, self.settings.lease_s)

    def clear_mark(self, worker: str, shard: int) -> None:
        """A wake-up has arrived: the next write may send one again."""
        from redis import RedisError

        from loom_core.coordination.wakeups import WakeMarks

        # While Redis is away the tick gets no lease either, and the mark runs out by itself.
        with contextlib.suppress(RedisError):
            WakeMarks(self.redis).clear(worker, shard)

    def work(self, spec: WorkerSpec) -> Work:
        """A worker's work, made once a process: an extractor keeps its model and its pace."""
        if spec.name not in self._works:
            self._works[spec.name] = spec.make(self)
        return self._works[spec.name]

    @cached_property
    def wake(self) -> Wake:
        """Sends a wake-up."""
        from workers.wake import make_wake

        return make_wake(self.settings)


@lru_cache(maxsize=1)
def process_parts() -> Parts:
    """This process's parts."""
    return Parts(get_settings())
