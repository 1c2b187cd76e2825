"""Ports on loopback: a free one, and whether one is taken."""

from __future__ import annotations

import socket


def free_port() -> int:
    """A port that nobody listens on now. Somebody may, a moment later: be ready to try another."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def is_taken(port: int) -> bool:
    """Whether somebody listens on it."""
    try:
        with socket.create_server(("127.0.0.1", port)):
            return False
    except OSError:
        return True
