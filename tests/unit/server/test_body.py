"""A body is read up to its limit and no further than it takes to say so."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest

from loom_core.errors import Limit
from loom_core.server.body import MAX_BODY_BYTES, MAX_DRAIN_BYTES, read_body

CHUNK = 1024 * 1024


async def chunks(count: int, taken: list[int]) -> AsyncIterator[bytes]:
    for number in range(count):
        taken.append(number)
        yield b"x" * CHUNK


def test_a_body_of_exactly_the_limit_is_whole() -> None:
    assert len(anyio.run(read_body, chunks(MAX_BODY_BYTES // CHUNK, []))) == MAX_BODY_BYTES


@pytest.mark.parametrize(
    ("sent", "read"),
    [(17, 17), (40, 40), (1000, MAX_DRAIN_BYTES // CHUNK + 1)],
    ids=["little", "more", "endless"],
)
def test_a_larger_one_is_drained_within_reason_and_refused(sent: int, read: int) -> None:
    taken: list[int] = []
    with pytest.raises(Limit) as caught:
        anyio.run(read_body, chunks(sent, taken))
    assert caught.value.status == 413
    assert len(taken) == read
