"""The transport between the fleet's processes, on a Redis that refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from kombu import Connection
from redis import Redis, ResponseError

from tests.support.servers import redis_server


def test_a_message_whose_receipt_redis_refuses_makes_room_for_the_next_one(tmp_path: Path) -> None:
    """As a Redis does whose disk is full: reads are answered, whatever changes anything is refused."""
    with redis_server(tmp_path / "redis") as server:
        client = Redis.from_url(server.url)
        with Connection(server.url, transport="workers.transport:Transport") as connection:
            channel = connection.channel()
            channel.basic_qos(prefetch_count=1)
            queue = connection.SimpleQueue("queue", channel=channel)
            queue.put("first")
            queue.put("second")
            message = queue.get(timeout=10)
            client.config_set("min-replicas-to-write", 1)
            with pytest.raises(ResponseError):
                client.set("any", "thing")
            message.ack()
            client.config_set("min-replicas-to-write", 0)
            assert channel.qos.can_consume()
            assert queue.get(timeout=10).payload == "second"
            queue.close()
