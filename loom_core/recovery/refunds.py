"""Tries to give back: the store was away before they could report, so it holds them for tries that died (D35).

Whoever works on the shard next gives them back first. Until then they are in Redis; lost with it, they count.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import redis
import structlog

from loom_core.projection import attempts
from loom_core.projection.attempts import Batch
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

log = structlog.get_logger(__name__)

LIFE_MS = 86_400_000


class Refunds:
    """The tries owed to the units of a worker's shard. Methods raise `redis.RedisError` while Redis is away."""

    def __init__(self, client: redis.Redis, worker: str, shard: int) -> None:
        self._client = client
        self._key = f"loom:owed:{{{worker}:{shard}}}"

    def note(self, owed: Sequence[tuple[Scope, Batch]]) -> None:
        """Has these tries given back later."""
        for scope, batch in owed:
            self._client.rpush(self._key, json.dumps({"scope": asdict(scope), "batch": asdict(batch)}))
        if owed:
            self._client.pexpire(self._key, LIFE_MS)

    def pay(self, store: Store) -> None:
        """Gives back what is owed. Raises `Unavailable` if the store is away still; nothing is lost then.

        Call it under the lease, before lost tries are counted.
        """
        while isinstance(line := self._client.rpop(self._key), str):
            try:
                owed = json.loads(line)
                scope, batch = Scope(**owed["scope"]), Batch(**owed["batch"])
            except (ValueError, TypeError, LookupError) as error:  # whoever reaches Redis may have written it
                log.warning("refund_refused", reason="malformed", error_class=type(error).__name__)
                continue
            attempts.refund(store, scope, batch)
