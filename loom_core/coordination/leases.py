"""Leases: who may work on a shard of a worker's rows now, with a fencing token that only ever grows.

A lease is not safety (invariant 9): a paused holder can overlap the next one. What makes the overlap harmless
is the token, which the state rows carry as their version, and that every effect is idempotent.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

import redis

from loom_core.coordination.holders import is_gone, this_process

EVERY_SHARD = 2**32 - 1
"""The shard under which a fan-out over all of them takes its lease and reports."""

_held: set[str] = set()
"""Holder names of the leases that this process works under now."""

ACQUIRE = """
-- KEYS[1] lease: the holder's name, for as long as somebody holds it
-- KEYS[2] fence: the last token that was given out
-- KEYS[3] came:  somebody came in vain while it was held
-- ARGV[1] the asker's name, ARGV[2] life of the lease in ms, ARGV[3] highest token known from the tables
local holder = redis.call('GET', KEYS[1])
if holder then
    redis.call('SET', KEYS[3], '1', 'PX', ARGV[2])
    return {0, holder}
end
-- The counter is lost with Redis, the tables may not hold the last token yet, the clock may be set back:
-- the highest of the three is higher than every token given out unless all of that happens at once.
local time = redis.call('TIME')
local token = time[1] * 1000 + math.floor(time[2] / 1000)
token = math.max(token, tonumber(redis.call('GET', KEYS[2]) or '0') + 1, tonumber(ARGV[3]) + 1)
redis.call('SET', KEYS[2], string.format('%.0f', token))
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('DEL', KEYS[3])
return {token, ARGV[1]}
"""

RENEW = """
-- KEYS[1] lease
-- ARGV[1] the holder's name, ARGV[2] life of the lease in ms
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
"""

RELEASE = """
-- KEYS[1] lease
-- KEYS[2] came: somebody came in vain while it was held
-- ARGV[1] the name of the holder whose lease may go
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
    return 0
end
redis.call('DEL', KEYS[1])
return redis.call('DEL', KEYS[2])
"""


@dataclass(frozen=True, slots=True)
class Lease:
    """A granted lease. `token` is its fencing token, in the range of milliseconds since 1970."""

    worker: str
    shard: int
    holder: str
    token: int


class Leases:
    """The leases of a fleet on one Redis. Methods raise `redis.RedisError` while it is away."""

    def __init__(self, client: redis.Redis, life_s: float) -> None:
        self._life_ms = int(life_s * 1000)
        self._acquire = client.register_script(ACQUIRE)
        self._renew = client.register_script(RENEW)
        self._release = client.register_script(RELEASE)

    def acquire(self, worker: str, shard: int, floor: int = 0) -> Lease | None:
        """The lease, or None while somebody else holds it; the holder learns that somebody came.

        `floor` is the highest token that the tables know of this worker and shard. A lease that nobody works
        under any more is taken over at once, if its holder was a process of this machine.
        """
        lease, holder = self._try(worker, shard, floor)
        if lease is None and _is_left_behind(holder):
            self._release(keys=[_key("lease", worker, shard), _key("came", worker, shard)], args=[holder])
            lease, _ = self._try(worker, shard, floor)
        if lease is not None:
            _held.add(lease.holder)
        return lease

    def _try(self, worker: str, shard: int, floor: int) -> tuple[Lease | None, str]:
        keys = [_key(kind, worker, shard) for kind in ("lease", "fence", "came")]
        asker = f"{this_process()}#{uuid.uuid4().hex}"
        token, holder = self._acquire(keys=keys, args=[asker, self._life_ms, floor])
        return (Lease(worker, shard, asker, int(token)) if token else None), holder

    def renew(self, lease: Lease) -> bool:
        """Starts the lease's life anew; False if it is no longer the holder's."""
        key = _key("lease", lease.worker, lease.shard)
        return bool(self._renew(keys=[key], args=[lease.holder, self._life_ms]))

    def release(self, lease: Lease) -> bool:
        """Gives the lease back if it is still the holder's. True if somebody came in vain meanwhile."""
        _held.discard(lease.holder)
        keys = [_key("lease", lease.worker, lease.shard), _key("came", lease.worker, lease.shard)]
        return bool(self._release(keys=keys, args=[lease.holder]))


def held_since(client: redis.Redis, worker: str, shards: int) -> list[int]:
    """When each lease of a worker that is held now was granted, in ms since 1970.

    Read off the fencing tokens, which are the clock unless it was set back.
    """
    names = [*range(shards), EVERY_SHARD]
    pipeline = client.pipeline(transaction=False)
    for shard in names:
        pipeline.exists(_key("lease", worker, shard))
        pipeline.get(_key("fence", worker, shard))
    answers = pipeline.execute()
    return [int(fence) for held, fence in zip(answers[::2], answers[1::2], strict=True) if held and fence]


def _is_left_behind(holder: str) -> bool:
    """Whether a lease's holder is known not to work under it: it has ended, or could not give it back."""
    process = holder.rpartition("#")[0]
    return is_gone(process) or (process == this_process() and holder not in _held)


def _key(kind: str, worker: str, shard: int) -> str:
    """The braces keep the keys of one lease on one node of a Redis cluster."""
    return f"loom:{kind}:{{{worker}:{shard}}}"
