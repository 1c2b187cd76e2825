"""Celery's Redis transport, made to outlive what others put on its queues, and a Redis that refuses.

The original decodes what it popped inside the worker's event loop: one message that is not JSON, or lacks a field,
ends the worker. So does one command that Redis refuses for want of memory or disk.
"""

from __future__ import annotations

from queue import Empty
from typing import Any

import structlog
from kombu.transport import redis, virtual
from redis import ResponseError

log = structlog.get_logger(__name__)


class QoS(redis.QoS):  # type: ignore[misc]
    """Counts a message as done although Redis refuses to note it: else no further one would ever be taken.

    Redis hands such a message on after the visibility timeout; a wake-up that comes twice is one.
    """

    def ack(self, delivery_tag: str) -> None:
        try:
            super().ack(delivery_tag)
        except ResponseError as error:
            log.warning("message_comes_again", reason="redis_refuses", error_class=type(error).__name__)
            virtual.QoS.ack(self, delivery_tag)


class Channel(redis.Channel):  # type: ignore[misc]
    """Refuses a malformed message: it is off the queue already, and no worker will see it again."""

    QoS = QoS

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
