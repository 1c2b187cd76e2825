"""What a person types and imports: the client (`Agent`) and the `loom` command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loom.client.agent import Agent

__all__ = ["Agent"]


def __getattr__(name: str) -> Any:
    """Import the client only when it is asked for: the command line starts without it."""
    if name == "Agent":
        from loom.client.agent import Agent

        return Agent
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
