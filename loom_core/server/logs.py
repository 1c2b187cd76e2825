"""Log lines with a name and fields: op, outcome, duration, ids. Never a value, a key's content or a token."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any

import structlog

from loom_core.settings import Settings


def configure(settings: Settings) -> None:
    """Send structlog's and the standard library's lines to stderr, for people or as JSON."""
    level = getattr(logging, settings.log_level.upper())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    final: Any = (
        structlog.processors.JSONRenderer()
        if settings.log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _errors_as_frames, final],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)


def _errors_as_frames(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """An error as its class and its frames: a printed traceback quotes values, and takes seconds to draw."""
    info = line.pop("exc_info", None)
    error = (
        info[1] if isinstance(info, tuple) else info if isinstance(info, BaseException) else sys.exc_info()[1]
    )
    if info and error is not None:
        line["error_class"] = type(error).__name__
        line["where"] = where(error)
    return line


def where(error: BaseException) -> list[str]:
    """The frames an error came through, without its message: a store's message may quote a value."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
