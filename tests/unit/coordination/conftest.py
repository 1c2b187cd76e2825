from collections.abc import Iterator

import fakeredis
import pytest
import redis


@pytest.fixture
def client() -> Iterator[redis.Redis]:
    with fakeredis.FakeRedis(decode_responses=True) as client:
        yield client
