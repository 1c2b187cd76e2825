"""Who calls: tokens are JWTs signed with HS256; without a secret the server is single-user."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import get_args

import jwt

from loom_core.errors import AuthError, Forbidden, Invalid
from loom_core.settings import Settings
from loom_core.tenancy import Role, permits

ALGORITHM = "HS256"
MIN_SECRET_BYTES = 32
"""RFC 7518, 3.2: an HMAC key is at least as long as the hash."""
MAX_TOKEN_CHARS = 8192
MAX_TTL_S = 10 * 366 * 86_400


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller. `org` and `namespace` are what the token binds it to; None binds nothing."""

    role: Role
    org: str | None = None
    namespace: str | None = None
    fingerprint: str = "local"

    def require(self, needed: Role) -> None:
        """Raises `Forbidden` where the role does not reach."""
        if not permits(self.role, needed):
            raise Forbidden("role_too_low", f"this op needs the role {needed}; the token's is {self.role}")


def _secret(settings: Settings) -> str | None:
    if settings.auth_secret is None:
        return None
    secret = settings.auth_secret.get_secret_value()
    if len(secret.encode()) < MIN_SECRET_BYTES:
        raise Invalid("weak_secret", f"LOOM_AUTH_SECRET must be at least {MIN_SECRET_BYTES} bytes long")
    return secret


def mint(settings: Settings, org: str, role: str, namespace: str | None, ttl_s: int) -> str:
    """A token for `org` (and one namespace, or all of the org's) that lives `ttl_s` seconds.

    Raises `Invalid` without a secret, and for a role or lifetime that cannot be.
    """
    secret = _secret(settings)
    if secret is None:
        raise Invalid("no_secret", "LOOM_AUTH_SECRET is not set: a single-user server takes no tokens")
    if role not in get_args(Role):
        raise Invalid("unknown_role", f"role must be one of {', '.join(get_args(Role))}")
    if not org.strip() or (namespace is not None and not namespace.strip()):
        raise Invalid("blank_name", "org and namespace must not be blank")
    if not 1 <= ttl_s <= MAX_TTL_S:
        raise Invalid("bad_ttl", f"a token lives between 1 and {MAX_TTL_S} seconds")
    now = int(time.time())
    claims = {"org": org, "role": role, "iat": now, "exp": now + ttl_s, "jti": secrets.token_hex(16)}
    if namespace is not None:
        claims["namespace"] = namespace
    return jwt.encode(claims, secret, algorithm=ALGORITHM)


class Authenticator:
    """Turns an `Authorization` header into a `Principal`. Raises `Invalid` for a secret that is too short."""

    def __init__(self, settings: Settings) -> None:
        self._secret = _secret(settings)

    @property
    def single_user(self) -> bool:
        """No secret: loopback only, no tokens, every role."""
        return self._secret is None

    def authenticate(self, header: str | None) -> Principal:
        """The caller behind `Bearer <token>`. Raises `AuthError`; a single-user server does not look."""
        if self._secret is None:
            return Principal(role="admin")
        scheme, _, token = (header or "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            raise AuthError("no_token", "send a token: Authorization: Bearer <token>")
        if len(token) > MAX_TOKEN_CHARS:
            raise AuthError("bad_token", "the token is too long")
        try:
            claims = jwt.decode(
                token,
                self._secret,
                algorithms=[ALGORITHM],
                # Two machines' clocks differ: a token minted a moment ahead of ours is as good as any.
                options={"require": ["exp", "org", "role"], "verify_iat": False},
            )
        except jwt.ExpiredSignatureError:
            raise AuthError("token_expired", "the token has expired") from None
        except (jwt.InvalidTokenError, ValueError):
            raise AuthError("bad_token", "the token does not stand") from None
        role, org, namespace = claims["role"], claims["org"], claims.get("namespace")
        named = isinstance(org, str) and org and (namespace is None or isinstance(namespace, str))
        if role not in get_args(Role) or not named:
            raise AuthError("bad_token", "the token does not stand")
        return Principal(role, org, namespace, hashlib.sha256(token.encode()).hexdigest()[:16])
