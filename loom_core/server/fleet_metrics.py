"""The fleet's metrics for `/metrics`: read from the stores when scraped, at most every few seconds, never failing.

One reader at a time, in a thread of its own. A scrape waits for it a little; where the store is slow or hangs it
gets what was read last, and `loom_fleet_read_age_seconds` says how old that is. Where the store is away the figures
are left out, since they are unknown, and `loom_store_up` is 0.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future

import redis
import structlog
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from loom_core.errors import LoomError
from loom_core.server.fleet_gauges import redis_metrics, table_metrics, worker_metrics
from loom_core.settings import Settings
from loom_core.storage.store import Store

FRESH_S = 5.0
WAIT_S = 4.0
"""A Prometheus scrape gives up after 10 s by default."""

log = structlog.get_logger(__name__)


class FleetMetrics(Collector):
    """Collects the fleet's metrics. Thread-safe; `collect` blocks for `wait_s` seconds at most."""

    def __init__(
        self, store: Store, client: redis.Redis | None, settings: Settings,
        wait_s: float = WAIT_S, now: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._store = store
        self._redis = client
        self._settings = settings
        self._wait_s = wait_s
        self._now = now
        self._lock = threading.Lock()
        self._reading: Future[None] | None = None
        self._last: list[Metric] = []
        self._read_at: float | None = None

    def collect(self) -> Iterator[Metric]:
        """The metrics as last read; reads anew first where they are older than `FRESH_S`."""
        reading = self._refresh()
        if reading is not None and not _finished(reading, self._wait_s):
            log.warning("fleet_metrics_slow", waited_s=self._wait_s)
        with self._lock:
            last, read_at = self._last, self._read_at
        yield from last
        if read_at is not None:
            yield GaugeMetricFamily(
                "loom_fleet_read_age_seconds",
                "Age of the fleet's figures",
                value=max(0.0, self._now() - read_at),
            )

    def _refresh(self) -> Future[None] | None:
        """The reading under way, begun now if none is and the last is old; None where the last will do."""
        with self._lock:
            if self._reading is not None and not self._reading.done():
                return self._reading
            if self._read_at is not None and self._now() - self._read_at < FRESH_S:
                return None
            reading: Future[None] = Future()
            self._reading = reading
        threading.Thread(target=self._read, args=(reading,), name="fleet-metrics", daemon=True).start()
        return reading

    def _read(self, reading: Future[None]) -> None:
        try:
            found = [*self._tables(), *self._coordination()]
            with self._lock:
                self._last, self._read_at = found, self._now()
        finally:
            reading.set_result(None)

    def _tables(self) -> list[Metric]:
        up = 0
        found: list[Metric] = []
        try:
            found = [
                *worker_metrics(self._store, self._settings),
                *table_metrics(self._store, self._settings),
            ]
            up = 1
        except LoomError as error:
            store_code = getattr(error, "clickhouse_code", None)
            log.warning("fleet_metrics_without_store", code=error.code, store_code=store_code)
        return [
            GaugeMetricFamily("loom_store_up", "Whether ClickHouse answered the last reading", value=up),
            *found,
        ]

    def _coordination(self) -> list[Metric]:
        if self._redis is None:
            return []
        up = 0
        found: list[Metric] = []
        try:
            found = redis_metrics(self._redis, self._settings)
            up = 1
        except redis.RedisError as error:
            log.warning("fleet_metrics_without_redis", error_class=type(error).__name__)
        return [
            GaugeMetricFamily("loom_redis_up", "Whether Redis answered the last reading", value=up),
            *found,
        ]


def _finished(reading: Future[None], wait_s: float) -> bool:
    try:
        reading.result(wait_s)
    except TimeoutError:
        return False
    return True
