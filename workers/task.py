"""The body of every Celery task: checks the message, then sweeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import structlog

from loom_core.settings import get_settings
from workers import process
from workers.parts import process_parts
from workers.spec import WorkerSpec

log = structlog.get_logger(__name__)


def sweep_task(spec: WorkerSpec) -> Callable[..., dict[str, Any]]:
    """The task of a worker. It takes a shard at most, and whoever reaches Redis may have sent it."""

    def sweep(shard: int | None = None) -> dict[str, Any]:
        settings = get_settings()
        if not spec.enabled(settings):
            return {"status": "disabled"}
        if shard is not None and (type(shard) is not int or not 0 <= shard < settings.shards):
            log.warning("message_refused", worker=spec.name, reason="no such shard")
            return {"status": "refused"}
        process.raise_at_soft_limit()
        from workers.tick import fan_out, tick

        return fan_out(spec, process_parts()) if shard is None else tick(spec, process_parts(), shard)

    sweep.__name__ = f"{spec.name}_sweep"
    sweep.__doc__ = spec.summary
    return sweep
