"""The identity tuple of a call: filled from the token or the install, and held against the token."""

from __future__ import annotations

from typing import Any

from loom_core.errors import Forbidden
from loom_core.server.auth import Principal
from loom_core.server.registry import Op
from loom_core.settings import Settings
from loom_core.tenancy import CallContext, Scope
from loom_core.wire import Identified, parse_request

FIELDS = tuple(Identified.model_fields)


def fill(
    op: Op, principal: Principal, arguments: dict[str, Any], request_id: str, settings: Settings
) -> tuple[dict[str, Any], CallContext]:
    """The arguments with `org` and `namespace` in place, and the call's context.

    A missing one is the token's, else on a single-user server the install's (D43). `ops.*` read no tenant's
    data, so there the install's fill in for any caller. A null counts as missing.

    Raises `Invalid` where one stays missing or is malformed, `Forbidden` where it is not the token's.
    """
    identity = {name: arguments[name] for name in FIELDS if arguments.get(name) is not None}
    bound = {"org": principal.org, "namespace": principal.namespace}
    installed = {"org": settings.org, "namespace": settings.namespace}
    for name in bound:
        filler = bound[name]
        if filler is None and (principal.org is None or op.group == "ops"):
            filler = installed[name]
        if filler is not None:
            identity.setdefault(name, filler)
    who, _ = parse_request(Identified, identity)
    for name, value in bound.items():
        if value is not None and identity[name] != value:
            raise Forbidden(f"foreign_{name}", f"the token is for another {name}")
    taken = {name: value for name, value in identity.items() if name in op.request.model_fields}
    rest = {name: value for name, value in arguments.items() if name not in FIELDS}
    scope = Scope(who.org, who.namespace)
    context = CallContext(scope, who.agent, who.user_id, who.session_id, principal.role, request_id)
    return rest | taken, context
