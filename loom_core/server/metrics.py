"""Prometheus metrics of the surface: calls by op and outcome, and how long they took."""

from __future__ import annotations

from importlib.metadata import version

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.registry import Collector

BUCKETS_S = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """One app's metrics. Labels are op names and error codes: never a tenant, a key or a caller."""

    def __init__(self, fleet: Collector | None = None) -> None:
        """`fleet` collects what is known of the fleet; `render` then blocks while it does."""
        self._registry = CollectorRegistry()
        self.calls = Counter(
            "loom_calls",
            "Calls by op, transport and outcome",
            ["op", "transport", "code"],
            registry=self._registry,
        )
        self.seconds = Histogram(
            "loom_call_seconds", "Seconds a call took", ["op"], buckets=BUCKETS_S, registry=self._registry
        )
        self.running = Gauge("loom_calls_running", "Calls in hand now", registry=self._registry)
        build = Gauge(
            "loom_build_info", "Always 1; the version is a label", ["version"], registry=self._registry
        )
        build.labels(version("loom-memory")).set(1)
        if fleet is not None:
            self._registry.register(fleet)

    def render(self) -> bytes:
        """This app's metrics, then the process's, in the text format."""
        return generate_latest(self._registry) + generate_latest(REGISTRY)
