"""Bytes to JSON: what no later step can mend is refused here, by name."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator
from typing import Any, NoReturn

from loom_core.errors import Invalid, Limit

MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_DRAIN_BYTES = 64 * 1024 * 1024
"""A body that is too large is read this far, unkept: closing earlier resets the connection under a client
that is still sending, and it never sees the answer."""


async def read_body(chunks: AsyncIterator[bytes]) -> bytes:
    """The whole body. Raises `Limit` (413) past 16 MiB."""
    body = bytearray()
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size <= MAX_BODY_BYTES:
            body += chunk
        elif size > MAX_DRAIN_BYTES:
            break
    if size > MAX_BODY_BYTES:
        raise Limit("body_too_large", f"the body is over {MAX_BODY_BYTES} bytes", status=413, retryable=False)
    return bytes(body)


def _refuse_constant(name: str) -> NoReturn:
    raise Invalid("invalid_json", f"{name} is not JSON")


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise Invalid("invalid_json", f"the number {literal[:40]} is too large")
    return number


def decode_object(body: bytes) -> dict[str, Any]:
    """A JSON object; an empty body is an empty one.

    Raises `Invalid` for anything else: other encodings than UTF-8, NaN and Infinity, numbers that overflow,
    nesting beyond what the parser holds.
    """
    if not body:
        return {}
    try:
        data = json.loads(body.decode(), parse_constant=_refuse_constant, parse_float=_finite)
    except UnicodeDecodeError:
        raise Invalid("invalid_json", "the body is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise Invalid("invalid_json", f"the body is not JSON: {error.msg} at {error.pos}") from None
    except RecursionError:
        raise Invalid("invalid_json", "the body is nested too deeply") from None
    except ValueError:
        raise Invalid("invalid_json", "the body holds an integer with too many digits") from None
    if not isinstance(data, dict):
        raise Invalid("invalid_json", "the body must be a JSON object")
    return data
