"""Every worker, once. Beat schedule, routes, queues, the README's table and the alerts follow this tuple."""

from __future__ import annotations

from workers import entity_communities, entity_extractor, projection_retry, supersession_replay
from workers.spec import WorkerSpec

WORKERS: tuple[WorkerSpec, ...] = (
    entity_extractor.SPEC,
    projection_retry.SPEC,
    supersession_replay.SPEC,
    entity_communities.SPEC,
)


def worker(name: str) -> WorkerSpec:
    """The worker of that name. Raises `KeyError` if there is none."""
    return {spec.name: spec for spec in WORKERS}[name]
