"""Whose turn it is in a shard: the next tick begins after the namespace that the last one began with last.

Kept before a namespace's batch begins, so that one whose rows kill the process doesn't come first again.
Lost with Redis, it costs a namespace one round.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import redis

from loom_core.tenancy import Scope

LIFE_S = 86_400


class Turns:
    """The order of service of a worker's shard."""

    def __init__(self, client: redis.Redis, worker: str, shard: int) -> None:
        self._client = client
        self._key = f"loom:turn:{{{worker}:{shard}}}"

    def order(self, scopes: Iterable[Scope]) -> list[Scope]:
        """`scopes` sorted, beginning after the one served last."""
        ordered = sorted(scopes)
        served = self._client.get(self._key)
        if not served:
            return ordered
        last = Scope(*json.loads(served))
        return [scope for scope in ordered if scope > last] + [scope for scope in ordered if scope <= last]

    def serve(self, scope: Scope) -> None:
        """`scope` is served now."""
        self._client.set(self._key, json.dumps([scope.org, scope.namespace]), ex=LIFE_S)
