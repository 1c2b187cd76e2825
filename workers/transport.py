"""Celery's Redis transport, made to outlive what others put on its queues, and a Redis that refuses.

The original decodes what it popped inside the worker's event loop: one message that is not JSON, or lacks a field,
ends the worker. So does one command that Redis refuses for want of memory or disk.
"""

from __future__ import annotations

from queue import Empty
from typing import Any

import structlog
from kombu.transport import redis
from redis import ResponseError

log = structlog.get_logger(__name__)


class Channel(redis.Channel):  # type: ignore[misc]
    """Refuses a malformed message: it is off the queue already, and no worker will see it again."""

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            log.warning("message_refused", reason="malformed", error_class=type(error).__name__)
            raise Empty from None


class Transport(redis.Transport):  # type: ignore[misc]
    """The Redis transport with that channel. A Redis that refuses a command is as good as away: try again later."""

    Channel = Channel
    connection_errors = (*redis.Transport.connection_errors, ResponseError)
