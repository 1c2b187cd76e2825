"""Any exception as one of ours: what a caller may see of it."""

from __future__ import annotations

import redis.exceptions
from clickhouse_connect.driver.exceptions import OperationalError

from loom_core.errors import Internal, LoomError, Unavailable

STORE_AWAY = (
    ConnectionError,
    TimeoutError,
    OperationalError,
    redis.exceptions.ConnectionError,
    redis.exceptions.TimeoutError,
)


def as_loom_error(error: BaseException, request_id: str) -> LoomError:
    """`error` itself if it is meant for callers; a store's outage as `Unavailable`; else `Internal`.

    What `Internal` says is the request id: the cause, which may quote somebody's data, stays in the log.
    """
    if isinstance(error, LoomError) and not isinstance(error, Internal):
        return error
    if isinstance(error, STORE_AWAY):
        return Unavailable(
            "store_away", "a store does not answer; nothing is known to be wrong with the call"
        )
    code = error.code if isinstance(error, Internal) else "internal"
    return Internal(code, f"something is wrong on our side; the log has it under request {request_id}")
