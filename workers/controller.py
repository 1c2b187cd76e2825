"""A worker's parent process, which tells its pool at once when it is to stop."""

from __future__ import annotations

from celery.apps.worker import Worker

from workers.process import tell_pool


class Controller(Worker):  # type: ignore[misc]
    """With `REMAP_SIGTERM=SIGQUIT` Celery announces its stop only after the time it gives the ticks to end."""

    def wait_for_soft_shutdown(self) -> None:
        """Called by Celery when the stop begins."""
        tell_pool()
        super().wait_for_soft_shutdown()
