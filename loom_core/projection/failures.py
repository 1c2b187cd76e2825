"""The failure log: one row per unit and projection (D33), and when to try it again."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from loom_core import clock
from loom_core.errors import Unavailable
from loom_core.memory.rows import digest
from loom_core.projection.units import Unit
from loom_core.settings import Settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

COLUMNS = (
    "org", "namespace", "failure_id", "unit_id", "memory_key", "memory_id", "projection", "state", "attempts",
    "error_class", "error", "value_sha256", "as_of", "first_failed_at", "last_failed_at", "next_try_at", "ver",
)  # fmt: skip
EXTRACTION = "extraction"
OPEN, RESOLVED, STALE, DEAD = "open", "resolved", "stale", "dead"
MAX_ERROR_CHARS = 500


@dataclass(frozen=True, slots=True)
class Failure:
    """One logical failure, its state and its tries. Instants in UTC microseconds."""

    failure_id: str
    unit_id: str
    memory_key: str
    memory_id: str
    projection: str
    state: str
    attempts: int
    error_class: str
    error: str
    value_sha256: str
    as_of: int
    first_failed_at: int
    last_failed_at: int
    next_try_at: int
    ver: int


def failure_id(scope: Scope, unit_id: str, projection: str) -> str:
    """The id under which a unit's projection is logged."""
    return digest("failure", scope.org, scope.namespace, unit_id, projection)


def delay_s(attempts: int, base_s: float, longest_s: float, jitter: float) -> float:
    """Seconds until the next try after `attempts` tries: doubling from `base_s`, at most `longest_s`.

    `jitter` in [0, 1) spreads it over the upper half, so that what failed together does not return together.
    """
    full = min(longest_s, base_s * 2.0 ** min(attempts - 1, 40))
    return full * (0.5 + 0.5 * jitter)


def record_all(
    store: Store,
    scope: Scope,
    units: Sequence[Unit],
    projection: str,
    error: Exception,
    settings: Settings,
    *,
    value_sha256: Mapping[str, str] | None = None,
    max_attempts: int | None = None,
    permanent: bool = False,
    retry_after_s: float | None = None,
    alone_in: Mapping[str, int] | None = None,
) -> list[Failure]:
    """Logs one failed try of each unit's projection and decides what is next: a later try, or `dead`.

    A store that is away and a rate limit (`Unavailable`) are refunded: they are not a try of the row (D35).
    `value_sha256`: by memory id, the value that failed. `alone_in`: by unit id, earlier tries that never
    reported back and that the unit was alone in, which count as its own.
    """
    known = {f.failure_id: f for f in of_units(store, scope, [unit.unit_id for unit in units])}
    now = clock.now()
    limit = max_attempts or settings.projection_retry_max_attempts
    spent = 0 if isinstance(error, Unavailable) else 1
    failures = []
    for unit in units:
        id_ = failure_id(scope, unit.unit_id, projection)
        before = known.get(id_)
        attempts = max(before.attempts if before else 0, (alone_in or {}).get(unit.unit_id, 0)) + spent
        wait = retry_after_s or delay_s(
            max(attempts, 1),
            settings.projection_retry_base_delay_s,
            settings.projection_retry_max_delay_s,
            random.random(),
        )
        failures.append(
            Failure(
                id_, unit.unit_id, unit.memory_key, unit.memory_id, projection,
                DEAD if permanent or attempts >= limit else OPEN, attempts, type(error).__name__,
                safe_message(error), (value_sha256 or {}).get(unit.memory_id, before.value_sha256 if before else ""),
                unit.landed_at, before.first_failed_at if before else now, now, now + int(wait * clock.SECOND),
                max(now, before.ver + 1 if before else 0),
            )
        )  # fmt: skip
    write(store, scope, failures)
    return failures


def safe_message(error: Exception) -> str:
    """What is stored of an error: its own message if it is one of ours, else its class alone.

    A library's message may carry a key, an address with a password, or the memory's text.
    """
    code, message = getattr(error, "code", None), getattr(error, "message", None)
    if isinstance(code, str) and isinstance(message, str) and code != "store_refused":
        return f"{code}: {message}"[:MAX_ERROR_CHARS]
    number = getattr(error, "clickhouse_code", None)
    return f"{type(error).__name__}, ClickHouse code {number}" if number else type(error).__name__


def write(store: Store, scope: Scope, failures: Iterable[Failure]) -> None:
    """Writes failure rows; the latest of one id stands."""
    store.insert(
        "memory_projection_failures",
        COLUMNS,
        [
            [scope.org, scope.namespace, f.failure_id, f.unit_id, f.memory_key, f.memory_id, f.projection, f.state,
             f.attempts, f.error_class, f.error, f.value_sha256, f.as_of, f.first_failed_at, f.last_failed_at,
             f.next_try_at, f.ver]
            for f in failures
        ],
    )  # fmt: skip


def by_ids(store: Store, scope: Scope, ids: Sequence[str]) -> list[Failure]:
    """The failures of these ids."""
    return _read(store, scope, "failures.by_id", ids=list(ids))


def of_units(store: Store, scope: Scope, unit_ids: Sequence[str]) -> list[Failure]:
    """Every failure of these units, whatever its state."""
    return _read(store, scope, "failures.by_units", ids=list(unit_ids))


def listed(
    store: Store, scope: Scope, states: Sequence[str] = (OPEN, DEAD), limit: int = 1000
) -> list[Failure]:
    """Failures in these states, the oldest first."""
    return _read(store, scope, "failures.listed", states=list(states), limit=limit)


def settle(store: Store, scope: Scope, failures: Iterable[Failure], state: str) -> None:
    """Moves failures to `resolved` or `stale`."""
    now = clock.now()
    write(store, scope, [replace(f, state=state, ver=max(now, f.ver + 1)) for f in failures])


def requeue(store: Store, scope: Scope, failures: Iterable[Failure]) -> int:
    """Opens failures again with all their tries, due now; returns how many."""
    now = clock.now()
    again = [replace(f, state=OPEN, attempts=0, next_try_at=now, ver=max(now, f.ver + 1)) for f in failures]
    write(store, scope, again)
    return len(again)


def _read(store: Store, scope: Scope, statement: str, **parameters: object) -> list[Failure]:
    columns = ", ".join(f"`{name}`" for name in COLUMNS[2:])
    lines = store.rows(
        sql(statement).format(columns=columns), org=scope.org, namespace=scope.namespace, **parameters
    )
    return [Failure(*line) for line in lines]
