"""Who may call what: tokens, roles, orgs and namespaces."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from starlette.testclient import TestClient

from loom_core.errors import Invalid
from loom_core.server.app import build_app
from loom_core.server.auth import mint
from loom_core.server.examples import EXAMPLES
from loom_core.server.registry import OPS
from loom_core.settings import Settings
from loom_core.tenancy import ROLES, permits
from tests.contract.conftest import SECRET
from tests.support.fake_services import FakeServices

Bearer = Callable[..., dict[str, str]]
CLAIMS = {"org": "dev", "role": "admin", "exp": 2_000_000_000}


def ask(client: TestClient, headers: dict[str, str] | None = None, **body: Any) -> Any:
    return client.post("/v1/facts.traverse", json={"seed_entity": "a"} | body, headers=headers)


def bearing(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def signed(claims: dict[str, Any], secret: str = SECRET, algorithm: str = "HS256") -> str:
    return jwt.encode(claims, secret, algorithm=algorithm)


STANDS_NOT = {
    "no header": {},
    "no scheme": {"authorization": "abc"},
    "another scheme": {"authorization": "Basic YTpi"},
    "empty": {"authorization": "Bearer "},
    "not a token": bearing("abc"),
    "too long": bearing("a" * 10_000),
    "no signature": bearing(jwt.encode(CLAIMS, None, algorithm="none")),
    "another secret": bearing(signed(CLAIMS, "another-secret-of-thirty-two-bytes!!")),
    "another algorithm": bearing(signed(CLAIMS, SECRET * 2, "HS512")),
    "expired": bearing(signed(CLAIMS | {"exp": 1_000_000_000})),
    "no expiry": bearing(signed({"org": "dev", "role": "admin"})),
    "no org": bearing(signed({"role": "admin", "exp": CLAIMS["exp"]})),
    "an empty org": bearing(signed(CLAIMS | {"org": ""})),
    "an org that is no text": bearing(signed(CLAIMS | {"org": 5})),
    "an unknown role": bearing(signed(CLAIMS | {"role": "root"})),
    "a role that is no text": bearing(signed(CLAIMS | {"role": ["admin"]})),
    "a namespace that is no text": bearing(signed(CLAIMS | {"namespace": {"a": 1}})),
    "not yet": bearing(signed(CLAIMS | {"nbf": 1_999_999_999})),
}


@pytest.mark.parametrize("headers", STANDS_NOT.values(), ids=STANDS_NOT)
def test_without_a_token_that_stands_it_is_a_401(
    guarded: TestClient, services: FakeServices, headers: dict[str, str]
) -> None:
    response = ask(guarded, headers, namespace="local")
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.json()["detail"]["category"] == "auth"
    assert services.calls == []


def test_a_token_outlives_its_lifetime_nowhere(guarded: TestClient, tokens: Settings) -> None:
    token = mint(tokens, "dev", "viewer", None, 1)
    assert ask(guarded, bearing(token), namespace="local").status_code == 200
    deadline = time.time() + 5
    while (answer := ask(guarded, bearing(token), namespace="local")).status_code == 200:
        assert time.time() < deadline, "a token of one second still stands after five"
        time.sleep(0.1)
    assert answer.json()["detail"]["code"] == "token_expired"


def test_a_token_minted_by_a_clock_ahead_of_ours_stands(guarded: TestClient) -> None:
    token = signed(CLAIMS | {"iat": int(time.time()) + 30})
    assert ask(guarded, bearing(token), namespace="local").status_code == 200


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
@pytest.mark.parametrize("role", ROLES)
def test_an_op_needs_its_role(guarded: TestClient, bearer: Bearer, op: Any, role: Any) -> None:
    body = EXAMPLES[op.name][0]
    response = guarded.post(f"/v1/{op.name}", json=body, headers=bearer(role))
    assert response.status_code == (200 if permits(role, op.role) else 403)


def test_a_role_too_low_is_told_before_the_body_is_read(guarded: TestClient, bearer: Bearer) -> None:
    response = guarded.post("/v1/memory.erase", content=b"not json", headers=bearer("writer"))
    assert (response.status_code, response.json()["detail"]["code"]) == (403, "role_too_low")


def test_another_org_than_the_tokens_is_a_403(
    guarded: TestClient, bearer: Bearer, services: FakeServices
) -> None:
    response = ask(guarded, bearer(org="dev"), org="other", namespace="local")
    assert (response.status_code, response.json()["detail"]["code"]) == (403, "foreign_org")
    assert services.calls == []


def test_another_namespace_than_the_tokens_is_a_403(guarded: TestClient, bearer: Bearer) -> None:
    response = ask(guarded, bearer(namespace="local"), namespace="other")
    assert (response.status_code, response.json()["detail"]["code"]) == (403, "foreign_namespace")


def test_a_token_without_a_namespace_reaches_all_of_its_org(
    guarded: TestClient, bearer: Bearer, services: FakeServices
) -> None:
    assert ask(guarded, bearer(org="acme"), namespace="anything").status_code == 200
    assert services.context.scope.org == "acme"


def test_what_the_token_names_need_not_be_said(
    guarded: TestClient, bearer: Bearer, services: FakeServices
) -> None:
    assert ask(guarded, bearer(org="acme", namespace="billing")).status_code == 200
    assert (services.context.scope.org, services.context.scope.namespace) == ("acme", "billing")


def test_a_null_org_is_a_missing_one(guarded: TestClient, bearer: Bearer, services: FakeServices) -> None:
    assert ask(guarded, bearer(org="acme"), org=None, namespace="n").status_code == 200
    assert services.context.scope.org == "acme"


def test_a_namespace_that_nobody_names_is_a_422_where_tokens_rule(
    guarded: TestClient, bearer: Bearer
) -> None:
    response = ask(guarded, bearer(org="acme"))
    assert response.status_code == 422
    assert "namespace" in response.json()["detail"]["message"]


def test_ops_need_no_namespace(guarded: TestClient, bearer: Bearer) -> None:
    assert guarded.post("/v1/ops.fleet", json={}, headers=bearer("viewer")).status_code == 200


def test_a_single_user_server_fills_in_the_install(services: FakeServices) -> None:
    with TestClient(build_app(Settings(org="home", namespace="notes"), services)) as client:
        assert ask(client).status_code == 200
    assert (services.context.scope.org, services.context.scope.namespace) == ("home", "notes")


def test_a_single_user_server_takes_any_role_and_looks_at_no_token(client: TestClient) -> None:
    body = {"memory_key": "k"}
    assert client.post("/v1/memory.erase", json=body, headers=bearing("stale")).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1.evil.example:7777", "null", "http://[::1"]
)
@pytest.mark.parametrize("path", ["/v1/memory.set", "/mcp"])
def test_a_web_page_of_another_host_does_not_reach_a_single_user_server(
    client: TestClient, services: FakeServices, origin: str, path: str
) -> None:
    response = client.post(path, json={"memory_key": "k", "value": 1}, headers={"origin": origin})
    assert (response.status_code, response.json()["detail"]["code"]) == (403, "foreign_origin")
    assert services.calls == []


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:7777", "http://[::1]:80"])
def test_a_web_page_of_this_machine_does(client: TestClient, origin: str) -> None:
    assert ask(client, {"origin": origin}).status_code == 200


def test_a_short_secret_is_refused_at_start(services: FakeServices) -> None:
    with pytest.raises(Invalid, match="32 bytes"):
        build_app(Settings(auth_secret="short"), services)


@pytest.mark.parametrize(
    ("settings", "arguments", "said"),
    [
        (Settings(), ("dev", "viewer", None, 60), "LOOM_AUTH_SECRET is not set"),
        (Settings(auth_secret="short"), ("dev", "viewer", None, 60), "32 bytes"),
        (Settings(auth_secret=SECRET), ("dev", "root", None, 60), "role"),
        (Settings(auth_secret=SECRET), (" ", "viewer", None, 60), "blank"),
        (Settings(auth_secret=SECRET), ("dev", "viewer", "", 60), "blank"),
        (Settings(auth_secret=SECRET), ("dev", "viewer", None, 0), "seconds"),
        (Settings(auth_secret=SECRET), ("dev", "viewer", None, 10**12), "seconds"),
    ],
)
def test_no_token_is_minted_that_could_not_stand(settings: Settings, arguments: Any, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        mint(settings, *arguments)


def test_the_log_has_no_token_and_no_value(
    guarded: TestClient, bearer: Bearer, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    headers = bearer()
    guarded.post(
        "/v1/memory.set", json={"memory_key": "k", "namespace": "n", "value": "a secret"}, headers=headers
    )
    written = "".join(capsys.readouterr()) + caplog.text
    assert "memory.set" in written
    assert "a secret" not in written and headers["authorization"].split(".")[2] not in written
