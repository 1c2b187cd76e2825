"""What operators and retrying callers rely on: readiness, metrics, documents, ids, limits, outages."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import anyio
import httpx
import jsonschema
import pytest
import redis.exceptions
from clickhouse_connect.driver.exceptions import OperationalError
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from loom_core.errors import Conflict, Internal, NotFound, Unavailable
from loom_core.server import openapi
from loom_core.server.app import build_app
from loom_core.server.examples import EXAMPLES
from loom_core.server.registry import BY_NAME, OPS
from loom_core.settings import Settings
from loom_core.wire import parse_request
from tests.support.fake_services import FakeServices

ROW = {"memory_key": "k", "value": 1}


def raising(error: Exception) -> Callable[[Any, Any], Any]:
    def handler(_: Any, __: Any) -> Any:
        raise error

    return handler


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_op_answers_its_example(client: TestClient, op: Any) -> None:
    request, answer = EXAMPLES[op.name]
    response = client.post(f"/v1/{op.name}", json=request)
    assert (response.status_code, response.json()) == (200, answer)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_an_example_names_no_field_that_the_op_has_not(op: Any) -> None:
    request, answer = EXAMPLES[op.name]
    _, notes = parse_request(op.request, request)
    assert (notes.ignored, notes.advisories) == ([], [])
    assert op.response.model_validate(answer).model_dump(mode="json") == answer


@pytest.mark.parametrize("tokens", [True, False])
def test_the_document_describes_every_op_with_schemas_that_hold(tokens: bool) -> None:
    document = openapi.document(tokens=tokens)
    assert {path.removeprefix("/v1/") for path in document["paths"] if path.startswith("/v1/")} == set(
        BY_NAME
    )
    assert bool(document.get("security")) is tokens
    for name, op in BY_NAME.items():
        operation = document["paths"][f"/v1/{name}"]["post"]
        assert set(operation["responses"]) == {"200", *openapi.ERRORS}
        assert operation["x-loom"]["role"] == op.role
        for schema, example in (
            (operation["requestBody"]["content"], EXAMPLES[name][0]),
            (operation["responses"]["200"]["content"], EXAMPLES[name][1]),
        ):
            reference = schema["application/json"]["schema"]
            validator = jsonschema.Draft202012Validator(reference | {"components": document["components"]})
            validator.check_schema(validator.schema)
            validator.validate(example)


def test_an_error_is_of_the_form_that_the_document_declares(client: TestClient) -> None:
    body = client.post("/v1/facts.list", json={"limit": 0}).json()
    jsonschema.validate(body, openapi.ERROR_SCHEMA)


def test_the_docs_page_shows_role_kind_and_listing_and_fetches_nothing(client: TestClient) -> None:
    page = client.get("/docs").text
    assert "http://" not in page and "https://" not in page and "<script" not in page
    for op in OPS:
        section = page.partition(f'<section id="{op.name}">')[2].partition("</section>")[0]
        assert f"role {op.role}" in section
        assert op.kind in section and ("audited" in section) is op.audited
        assert ("not listed" in section) is not op.mcp_listed


def test_alive_is_not_ready(client: TestClient, services: FakeServices) -> None:
    services.checks["redis"] = False
    assert client.get("/healthz").status_code == 200
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json() == {
        "ready": False,
        "checks": {"clickhouse": True, "redis": False, "migrations": True},
    }
    services.checks["redis"] = True
    assert client.get("/readyz").status_code == 200


def test_alive_answers_while_every_handler_hangs(client: TestClient, services: FakeServices) -> None:
    release = threading.Event()
    services.answer("facts.list", lambda _, __: release.wait(30) and EXAMPLES["facts.list"][1])
    calls = [
        threading.Thread(target=client.post, args=("/v1/facts.list",), kwargs={"json": {}}) for _ in range(40)
    ]
    for call in calls:
        call.start()
    try:
        assert client.get("/healthz").status_code == 200
    finally:
        release.set()
        for call in calls:
            call.join()


def test_metrics_count_calls_by_op_and_outcome(client: TestClient) -> None:
    client.post("/v1/facts.list", json={})
    client.post("/v1/facts.list", json={"limit": 0})
    families = {family.name: family for family in text_string_to_metric_families(client.get("/metrics").text)}
    counted = {
        (sample.labels["op"], sample.labels["code"]): sample.value
        for sample in families["loom_calls"].samples
        if sample.name == "loom_calls_total"
    }
    assert counted == {("facts.list", "ok"): 1, ("facts.list", "invalid_request"): 1}
    assert "loom_call_seconds" in families
    assert {sample.value for sample in families["loom_calls_running"].samples} == {0}


def test_a_plain_request_id_is_kept_and_another_is_replaced(
    client: TestClient, services: FakeServices
) -> None:
    answer = client.post("/v1/facts.list", json={}, headers={"X-Request-Id": "trace-1"})
    assert (answer.headers["x-request-id"], services.context.request_id) == ("trace-1", "trace-1")
    answer = client.post("/v1/facts.list", json={"limit": 0}, headers={"X-Request-Id": "a b\tc"})
    assert len(answer.headers["x-request-id"]) == 32


OUTAGES = [
    OperationalError("http://user:password@host refused"),
    redis.exceptions.ConnectionError("redis://:password@host"),
    redis.exceptions.TimeoutError("slow"),
    ConnectionRefusedError("no"),
    TimeoutError("slow"),
    Unavailable("clickhouse_away", "ClickHouse does not answer"),
]


@pytest.mark.parametrize("error", OUTAGES, ids=lambda error: type(error).__name__)
def test_a_store_that_is_away_is_a_503_to_try_again(
    client: TestClient, services: FakeServices, error: Exception
) -> None:
    services.answer("facts.list", raising(error))
    response = client.post("/v1/facts.list", json={})
    detail = response.json()["detail"]
    assert response.status_code == 503
    assert (detail["category"], detail["retryable"], detail["retry_after_s"]) == ("unavailable", True, 1.0)
    assert response.headers["retry-after"] == "1"
    assert "password" not in response.text


@pytest.mark.parametrize(
    ("error", "status", "category"),
    [
        (NotFound("no_row", "no such row"), 404, "not_found"),
        (Conflict("changed", "it changed"), 409, "conflict"),
    ],
)
def test_what_a_service_finds_is_told(
    client: TestClient, services: FakeServices, error: Exception, status: int, category: str
) -> None:
    services.answer("memory.restore", raising(error))
    response = client.post("/v1/memory.restore", json={"memory_key": "k"})
    assert (response.status_code, response.json()["detail"]["category"]) == (status, category)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("the row says: secret"),
        Internal("store_refused", "near 'secret'"),
        RecursionError(),
        KeyError("x"),
    ],
    ids=repr,
)
def test_a_fault_of_ours_is_a_500_that_gives_nothing_away(
    client: TestClient, services: FakeServices, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    services.answer("memory.set", raising(error))
    response = client.post("/v1/memory.set", json=ROW, headers={"X-Request-Id": "trace-2"})
    assert response.status_code == 500
    assert "trace-2" in response.json()["detail"]["message"]
    assert "secret" not in response.text + "".join(capsys.readouterr())


def test_an_answer_that_is_not_the_ops_is_a_500_not_a_lie(client: TestClient, services: FakeServices) -> None:
    services.answer("facts.list", lambda _, __: {"rows": [{"subject": "a"}]})
    assert client.post("/v1/facts.list", json={}).status_code == 500


def test_services_without_a_handler_are_refused_at_start(services: FakeServices) -> None:
    services.facts.traverse = None
    with pytest.raises(Internal, match=r"services\.facts\.traverse"):
        build_app(Settings(), services)


def test_services_are_closed_when_the_app_stops(services: FakeServices) -> None:
    with TestClient(build_app(Settings(), services)):
        assert not services.closed
    assert services.closed


def test_a_write_sent_again_under_its_key_is_done_once(client: TestClient, services: FakeServices) -> None:
    headers = {"Idempotency-Key": "once"}
    first = client.post("/v1/memory.set", json=ROW | {"supersedes": ["old"]}, headers=headers)
    again = client.post("/v1/memory.set", json=ROW | {"supersedes": ["old"]}, headers=headers)
    assert first.json() == again.json()
    assert len(services.calls) == 1
    assert set(services.idempotency.memory_keys["once"]) == {"k", "old", first.json()["memory_key"]}


def test_a_key_is_its_ops_and_its_scopes_own(client: TestClient, services: FakeServices) -> None:
    headers = {"Idempotency-Key": "same"}
    client.post("/v1/memory.set", json=ROW, headers=headers)
    client.post("/v1/memory.set", json=ROW | {"namespace": "other"}, headers=headers)
    client.post("/v1/memory.delete", json={"memory_key": "k"}, headers=headers)
    assert len(services.calls) == 3


def test_a_key_that_comes_with_another_request_is_a_409(client: TestClient, services: FakeServices) -> None:
    headers = {"Idempotency-Key": "once"}
    client.post("/v1/memory.set", json=ROW, headers=headers)
    response = client.post("/v1/memory.set", json=ROW | {"value": 2}, headers=headers)
    assert (response.status_code, response.json()["detail"]["code"]) == (409, "idempotency_key_reused")
    assert len(services.calls) == 1


def test_a_failed_write_keeps_no_answer(client: TestClient, services: FakeServices) -> None:
    services.answer("memory.set", raising(Unavailable("away", "away")))
    assert client.post("/v1/memory.set", json=ROW, headers={"Idempotency-Key": "k"}).status_code == 503
    assert services.idempotency.rows == {}


def test_an_erasure_leaves_no_answer_behind(client: TestClient, services: FakeServices) -> None:
    client.post("/v1/memory.erase", json={"memory_key": "k"}, headers={"Idempotency-Key": "k"})
    assert services.idempotency.rows == {}


def test_a_write_stands_where_its_answer_cannot_be_kept(client: TestClient, services: FakeServices) -> None:
    def put(*_: Any) -> None:
        raise Unavailable("away", "away")

    services.idempotency.put = put  # type: ignore[method-assign]
    assert client.post("/v1/memory.set", json=ROW, headers={"Idempotency-Key": "k"}).status_code == 200


def test_too_many_calls_with_one_token_wait(services: FakeServices) -> None:
    with TestClient(build_app(Settings(rate_limit_per_minute=2), services)) as client:
        answers = [client.post("/v1/facts.list", json={}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    detail = answers[2].json()["detail"]
    assert (detail["category"], detail["retryable"]) == ("limit", True)
    assert 0 < detail["retry_after_s"] <= 30
    assert 1 <= int(answers[2].headers["retry-after"]) <= 30


def test_a_caller_that_hangs_up_is_no_fault_of_ours(services: FakeServices) -> None:
    scope = {"type": "http", "method": "POST", "path": "/v1/facts.list", "headers": [], "query_string": b""}
    came = iter([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}])
    sent: list[Any] = []

    async def receive() -> Any:
        return next(came)

    async def send(message: Any) -> None:
        sent.append(message)

    anyio.run(build_app(Settings(), services), scope, receive, send)
    assert sent[0]["status"] == 400
    assert services.calls == []


def test_a_body_over_the_limit_is_answered_before_the_connection_goes(address: str) -> None:
    for megabytes in (20, 100):
        body = (b"x" * 1_000_000 for _ in range(megabytes))
        assert httpx.post(f"{address}/v1/memory.set", content=body, timeout=30).status_code == 413


def test_a_wrong_path_is_a_404_in_the_envelope(client: TestClient) -> None:
    response: httpx.Response = client.get("/nothing")
    assert (response.status_code, response.json()["detail"]["code"]) == (404, "unknown_path")
