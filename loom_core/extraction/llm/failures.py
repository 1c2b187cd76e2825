"""What an LLM error means for the text that met it: try again, give up on the text, or stop altogether.

litellm's classes are not enough: a missing key and a refused connection both arrive as InternalServerError,
an exhausted quota as RateLimitError, an unknown model as BadRequestError. Status and message decide. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from loom_core.extraction.outcomes import Permanent, Retry

_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing[_ ](?:hard|not)", re.IGNORECASE)
_NO_KEY = re.compile(r"missing credentials|api[ _]key", re.IGNORECASE)
_UNKNOWN_MODEL = re.compile(
    r"LLM Provider NOT provided|response_format|json_schema|(?:unknown|invalid|no such) model|"
    r"\bmodel\b.{0,80}(?:not exist|not found|not supported)",
    re.IGNORECASE,
)
_UNREACHED = re.compile(r"connection error|connection refused|cannot connect|name resolution", re.IGNORECASE)
_TOO_LONG = re.compile(r"context[ _](?:length|window|size)|maximum context", re.IGNORECASE)

_OUTAGE = frozenset({502, 503, 504, 529})
_DENIED = frozenset({401, 403, 404})
_REFUSED = frozenset({400, 422})


class ContextOverflow(Exception):
    """The text with its prompt is longer than the model reads: split it, do not retry."""


def classify(error: Exception, headers: Mapping[str, str] | None = None) -> Retry | Permanent:
    """The outcome of a failed call. Raises ContextOverflow where the text has to be split.

    Refunded (`counts=False`): rate limits and a provider that cannot be reached (D35). A 500 or a timeout may
    be the text's own doing, so it counts.
    """
    name, message = type(error).__name__, _first_line(error)
    status = getattr(error, "status_code", None)
    refused = status in _REFUSED
    if name == "ContextWindowExceededError" or status == 413 or (refused and _TOO_LONG.search(message)):
        raise ContextOverflow(message) from error
    if name == "ContentPolicyViolationError":
        return Permanent(name, message)
    if status == 429 and not _QUOTA.search(message):
        return Retry(name, message, _retry_after(headers), counts=False)
    if status == 429 or status in _DENIED or (refused and _UNKNOWN_MODEL.search(message)):
        return Permanent(name, message, stops_all=True)
    if status == 500 and _NO_KEY.search(message):
        return Permanent(name, message, stops_all=True)
    if status in _OUTAGE or name == "APIConnectionError" or _UNREACHED.search(message):
        return Retry(name, message, _retry_after(headers), counts=False)
    return Permanent(name, message) if refused else Retry(name, message, _retry_after(headers))


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:500]


def _retry_after(headers: Mapping[str, str] | None) -> float | None:
    """`Retry-After` in seconds; its date form is not sent by LLM providers and is ignored."""
    for key, value in (headers or {}).items():
        if key.casefold() == "retry-after":
            try:
                return max(0.0, float(value))
            except ValueError:
                return None
    return None
