"""An error survives the wire: class, code, advice."""

from __future__ import annotations

import pytest

from loom_core.errors import (
    AuthError,
    Conflict,
    Forbidden,
    Internal,
    Invalid,
    Limit,
    LoomError,
    NotFound,
    Unavailable,
    from_detail,
)

STATUS = {
    AuthError: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    Invalid: 422,
    Limit: 429,
    Internal: 500,
}


@pytest.mark.parametrize(("kind", "status"), [*STATUS.items(), (Unavailable, 503)])
def test_an_error_comes_back_as_it_went(kind: type[LoomError], status: int) -> None:
    sent = kind("a_code", "a message")
    assert sent.status == status
    back = from_detail(sent.status, sent.detail())
    assert type(back) is kind
    assert (back.code, back.message, back.retryable, back.retry_after_s, back.status) == (
        sent.code,
        sent.message,
        sent.retryable,
        sent.retry_after_s,
        status,
    )


@pytest.mark.parametrize("kind", [*STATUS, Unavailable])
def test_only_what_may_pass_says_when_to_come_back(kind: type[LoomError]) -> None:
    error = kind("a", "b")
    assert (error.retry_after_s is not None) is error.retryable is (kind in (Limit, Unavailable))
    assert kind("a", "b", retryable=False).retry_after_s is None


def test_the_header_counts_where_the_body_does_not_say() -> None:
    detail = {"code": "c", "message": "m", "category": "limit", "retryable": True}
    assert from_detail(429, detail, 3.0).retry_after_s == 3.0
    assert from_detail(429, detail | {"retry_after_s": 2}, 3.0).retry_after_s == 2.0


def test_a_category_of_a_later_server_is_an_error_all_the_same() -> None:
    assert type(from_detail(418, {"category": "teapot"})) is LoomError
