"""The services behind the ops, on the stores that the settings name."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import redis

from loom_core.coordination.answers import forget_answers
from loom_core.coordination.connection import connect_redis
from loom_core.coordination.shards import shard_of
from loom_core.coordination.wakeups import Wake, no_wake
from loom_core.errors import LoomError
from loom_core.facts.service import FactsService
from loom_core.memory.erase import forgets_nothing
from loom_core.memory.service import MemoryService
from loom_core.memory.writer import Writer
from loom_core.namespace.service import NamespaceDecisions
from loom_core.search.service import SearchService
from loom_core.server.fleet_metrics import FleetMetrics
from loom_core.server.ops_service import OpsService
from loom_core.settings import Settings
from loom_core.storage.audit import AuditRows
from loom_core.storage.idempotency import IdempotencyAnswers
from loom_core.storage.migrate import pending
from loom_core.storage.store import Store
from loom_core.tenancy import Scope


class InstalledServices:
    """One attribute a group of ops; made once per process, after a fork or spawn."""

    def __init__(self, settings: Settings, wake: Wake) -> None:
        self._settings = settings
        self._store = Store(settings)
        self._redis: redis.Redis | None = connect_redis(settings) if settings.redis_url else None

        def wake_scope(worker: str, scope: Scope) -> None:
            wake(worker, shard_of(scope, settings.shards))

        memory = MemoryService(
            Writer(self._store, settings, wake_scope),
            forget_answers(self._redis) if self._redis else forgets_nothing,
        )
        search = SearchService(self._store, settings)
        decisions = NamespaceDecisions(self._store)
        self.memory: Any = SimpleNamespace(
            set=memory.set,
            set_many=memory.set_many,
            set_from_messages=memory.set_from_messages,
            update=memory.update,
            update_by_id=memory.update_by_id,
            get=memory.get,
            history=memory.history,
            delete=memory.delete,
            restore=memory.restore,
            erase=memory.erase,
            link=memory.link,
            search=search.search,
            related=search.related,
            backlinks=search.backlinks,
            timeline=search.timeline,
        )
        self.facts: Any = FactsService(self._store, settings)
        self.namespace: Any = SimpleNamespace(
            taxonomy=search.taxonomy,
            alias=decisions.alias,
            register_ontology=decisions.register_ontology,
            configure=decisions.configure,
        )
        self.ops: Any = OpsService(self._store, settings, self.ready)
        self.idempotency = IdempotencyAnswers(self._store)
        self.audit = AuditRows(self._store)
        self.fleet_metrics = FleetMetrics(self._store, self._redis, settings)

    def ready(self) -> Mapping[str, bool]:
        """By part, whether it can serve. Redis counts where one is configured: without it only wake-ups wait."""
        parts = {"clickhouse": self._store.ping()}
        try:
            parts["migrations"] = parts["clickhouse"] and not pending(self._store)
        except LoomError:
            parts["migrations"] = False
        if self._redis is not None:
            parts["redis"] = _pings(self._redis)
        return parts

    def close(self) -> None:
        """Closes the connections."""
        self._store.close()
        if self._redis is not None:
            self._redis.close()


def build(settings: Settings, wake: Wake = no_wake) -> InstalledServices:
    """The services of this installation. `wake` tells the fleet of new work; without it the beat finds it."""
    return InstalledServices(settings, wake)


def _pings(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
