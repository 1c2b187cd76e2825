"""Whose data a call touches, and who calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["viewer", "writer", "admin"]

ROLES: tuple[Role, ...] = ("viewer", "writer", "admin")
"""From least to most; each role may do what those before it may."""


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """The tenant and namespace that every statement touching data names first."""

    org: str
    namespace: str


@dataclass(frozen=True, slots=True)
class CallContext:
    """One call: its scope, the rest of the identity tuple, and the role it was granted."""

    scope: Scope
    agent: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    role: Role = "viewer"
    request_id: str = ""


def permits(held: Role, needed: Role) -> bool:
    """Whether a caller with role `held` may call an op that needs `needed`."""
    return ROLES.index(held) >= ROLES.index(needed)
