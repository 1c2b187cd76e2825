"""A worker's consumer, which waits before it comes back to a Redis that answers and refuses."""

from __future__ import annotations

import time

from celery.worker import consumer
from redis.exceptions import NoPermissionError, ResponseError

REFUSED_PAUSE_S = 2.0
"""Redis is there, so connecting anew succeeds at once, and the next refusal comes as soon."""


class Consumer(consumer.Consumer):  # type: ignore[misc]
    """What the transport calls a lost connection may be a refusal."""

    def on_connection_error_before_connected(self, error: Exception) -> None:
        """Called by Celery before it connects anew, where the first commands failed."""
        super().on_connection_error_before_connected(error)
        _pause_if_refused(error)

    def on_connection_error_after_connected(self, error: Exception) -> None:
        """The same, where a later one failed."""
        super().on_connection_error_after_connected(error)
        _pause_if_refused(error)


def _pause_if_refused(error: Exception) -> None:
    """A right that is missing stays missing: the worker ends."""
    if isinstance(error, NoPermissionError):
        raise error
    if isinstance(error, ResponseError):
        time.sleep(REFUSED_PAUSE_S)
