"""The Celery app: configuration only. What runs is in `registry`, how it runs in `tick`."""

from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any

from celery import Celery
from kombu import Exchange, Queue

from loom_core.settings import Settings, get_settings
from workers import process
from workers.registry import WORKERS
from workers.task import sweep_task

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
CHILD_START_S = 60.0
"""A spawned process imports anew, which takes seconds on a busy machine; Celery's own limit is 4."""
CHILD_MEMORY_KIB = 1_500_000
"""A pool process that is larger than this after a tick is replaced: a large graph was in it."""
MOST_CHILDREN = 4
"""Pool processes where `--concurrency` does not say: one a worker, on a machine that has the processors."""
SHUTDOWN_S = 10.0
"""How long a tick may go on after SIGTERM; it stops at the end of the batch in hand."""


class Fleet(Celery):  # type: ignore[misc]
    """An app that brings its tasks along wherever it is unpickled, which is in each spawned pool process."""

    def on_init(self) -> None:
        """Called by Celery at the end of `__init__`, here and in every pool process."""
        for spec in WORKERS:
            # Neither lazy nor shared: a spawned process would register it with every app there, this one twice.
            self.task(sweep_task(spec), name=spec.task, shared=False, lazy=False)
        process.connect_signals()

    @cached_property
    def Worker(self) -> Any:
        """What `celery worker` runs."""
        return self.subclass_with_self("workers.controller:Controller")


def build_app(settings: Settings, *, publish_timeout_s: float | None = None) -> Celery:
    """The fleet's app on the Redis of `settings`. Raises `Invalid` where no address is set.

    `publish_timeout_s`: for a process that only sends, how long Redis may take.
    """
    return Fleet(
        "workers",
        changes=configuration(settings, publish_timeout_s),
        set_as_current=publish_timeout_s is None,
    )


def configuration(settings: Settings, publish_timeout_s: float | None = None) -> dict[str, Any]:
    """Celery's settings. The order of the time limits was checked when `settings` was made."""
    timeout_s = publish_timeout_s or 10.0
    url = settings.require_redis_url()
    return {
        "broker_url": url,
        # Celery's own default for `rediss` is to check no certificate; options in the address win over this.
        "broker_use_ssl": {"ssl_cert_reqs": ssl.CERT_REQUIRED} if url.startswith("rediss:") else False,
        "broker_transport": "workers.transport:Transport",
        "broker_connection_timeout": timeout_s,
        "broker_connection_retry_on_startup": True,
        # Redis may be away for hours; a worker that gave up would have to be started by hand.
        "broker_connection_max_retries": None,
        "broker_pool_acquire_timeout": publish_timeout_s,
        "broker_transport_options": {
            "visibility_timeout": settings.visibility_timeout_s,
            "socket_timeout": timeout_s,
            "socket_connect_timeout": timeout_s,
            "socket_keepalive": True,
        },
        # A message only says "wake up": no result is kept, and none may carry code.
        "accept_content": ["json"],
        "task_serializer": "json",
        "task_ignore_result": True,
        "task_store_errors_even_if_ignored": False,
        # Acknowledged before it runs: the table knows what was tried, so a message need not come back (B60).
        "task_acks_late": False,
        "task_soft_time_limit": settings.tick_soft_limit_s,
        "task_time_limit": settings.tick_hard_limit_s,
        "task_queues": [Queue(spec.queue, Exchange(spec.queue), routing_key=spec.queue) for spec in WORKERS],
        "task_routes": {spec.task: {"queue": spec.queue} for spec in WORKERS},
        "task_create_missing_queues": False,
        "task_default_queue": WORKERS[0].queue,
        # A fork after `import chdb`, numba or a client's threads hangs or shares sockets.
        "worker_pool_start_method": "spawn",
        "worker_concurrency": min(MOST_CHILDREN, os.cpu_count() or 1),
        "worker_proc_alive_timeout": CHILD_START_S,
        "worker_prefetch_multiplier": 1,
        "worker_disable_prefetch": True,
        "worker_max_memory_per_child": CHILD_MEMORY_KIB,
        "worker_soft_shutdown_timeout": SHUTDOWN_S,
        "worker_consumer": "workers.consumer:Consumer",
        # There is none to cancel, as none is acknowledged late; unset, each lost connection is a page of warnings.
        "worker_cancel_long_running_tasks_on_connection_loss": True,
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "worker_redirect_stdouts": False,
        "beat_schedule": schedule(settings),
        # Without a file: what is due stands in the tables, so a beat that starts anew sweeps at once.
        "beat_scheduler": "celery.beat:Scheduler",
        # Seconds a beat sleeps at most: how soon it notices that it is to stop.
        "beat_max_loop_interval": 1.0,
        "timezone": "UTC",
    }


def schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """The beat's entries: one for each worker whose gate is on, due at once when a beat starts."""
    return {
        spec.name: {
            "task": spec.task,
            "schedule": float(spec.interval_s(settings)),
            "options": {"expires": spec.interval_s(settings)},
            "last_run_at": LONG_AGO,
        }
        for spec in WORKERS
        if spec.enabled(settings)
    }


@lru_cache(maxsize=1)
def _app() -> Celery:
    return build_app(get_settings())


def __getattr__(name: str) -> Any:
    """`workers.app:app`, made when it is first asked for: importing this module needs no Redis."""
    if name == "app":
        return _app()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
