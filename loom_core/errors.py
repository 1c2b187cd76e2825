"""Every error a caller can meet, as one hierarchy: what went wrong, whose fault it is, whether to try again.

The HTTP status and the body's `detail` are derived from the error, so services raise and never format. The
client turns an answer's `detail` back into the same class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

Category = Literal["invalid", "auth", "not_found", "conflict", "limit", "unavailable", "internal"]


class LoomError(Exception):
    """An error with a stable `code` (lower_snake) for programs and a `message` for people."""

    category: ClassVar[Category] = "internal"
    default_status: ClassVar[int] = 500
    default_retryable: ClassVar[bool] = False
    default_retry_after_s: ClassVar[float | None] = None

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        retryable: bool | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = self.default_status if status is None else status
        self.retryable = self.default_retryable if retryable is None else retryable
        if retry_after_s is None and self.retryable:
            retry_after_s = self.default_retry_after_s
        self.retry_after_s = retry_after_s

    def detail(self) -> dict[str, Any]:
        """The error as the `detail` object of an HTTP answer; `retry_after_s` only where there is one."""
        detail: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "category": self.category,
            "retryable": self.retryable,
        }
        if self.retry_after_s is not None:
            detail["retry_after_s"] = self.retry_after_s
        return detail


class Invalid(LoomError):
    """The request itself is wrong; sending it again cannot help."""

    category = "invalid"
    default_status = 422


class AuthError(LoomError):
    """No token, or one that does not stand: malformed, expired, signed by someone else."""

    category = "auth"
    default_status = 401


class Forbidden(LoomError):
    """A valid token that does not reach this far: its role, org or namespace."""

    category = "auth"
    default_status = 403


class NotFound(LoomError):
    """What the call names does not exist."""

    category = "not_found"
    default_status = 404


class Conflict(LoomError):
    """The stored state contradicts the call, e.g. another content hash than `if_match_sha256`."""

    category = "conflict"
    default_status = 409


class Limit(LoomError):
    """Too much: too many calls (429, retryable) or too large a body (413, not)."""

    category = "limit"
    default_status = 429
    default_retryable = True
    default_retry_after_s = 1.0


class Unavailable(LoomError):
    """A store is away or overloaded; nothing is known to be wrong with the call."""

    category = "unavailable"
    default_status = 503
    default_retryable = True
    default_retry_after_s = 1.0


class Internal(LoomError):
    """A fault of ours. The message names the request id, never the cause; the log has both."""


BY_CATEGORY: dict[str, type[LoomError]] = {
    cls.category: cls for cls in (Invalid, NotFound, Conflict, Limit, Unavailable, Internal)
}


def from_detail(status: int, detail: Mapping[str, Any], retry_after_s: float | None = None) -> LoomError:
    """The error that an answer's `detail` stands for. An unknown category becomes a plain `LoomError`.

    `retry_after_s` (seconds, from the header) is used where the body has none.
    """
    category = str(detail.get("category", "internal"))
    if category == "auth":
        kind: type[LoomError] = Forbidden if status == 403 else AuthError
    else:
        kind = BY_CATEGORY.get(category, LoomError)
    stated = detail.get("retry_after_s", retry_after_s)
    return kind(
        str(detail.get("code", "unknown")),
        str(detail.get("message", "")),
        status=status,
        retryable=bool(detail.get("retryable", False)),
        retry_after_s=float(stated) if isinstance(stated, int | float) else None,
    )
