"""The client against the registry and a real server: one method an op, and the example of the user's page."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from enum import Enum
from typing import Any

import anyio
import httpx
import pytest
from pydantic_core import PydanticUndefined

from loom import Agent
from loom.client.memory import KEEP
from loom.client.retry import RetryPolicy
from loom_core.errors import AuthError, Conflict, Forbidden, Internal, Invalid, NotFound, Unavailable
from loom_core.server.examples import EXAMPLES, WHO
from loom_core.server.identity import FIELDS
from loom_core.server.registry import BY_NAME, OPS
from tests.support.fake_services import FakeServices

NO_WAIT = RetryPolicy(base_s=0.0, cap_s=0.0)
UPDATES = ("memory.update", "memory.update_by_id")


def run(conversation: Callable[[Agent], Any], **options: Any) -> Any:
    async def main() -> Any:
        async with Agent("dev", "local", "sre-bot", **options) as agent:
            return await conversation(agent)

    return anyio.run(main)


def method(agent: Agent, op: str) -> Callable[..., Any]:
    group, _, verb = op.partition(".")
    return getattr(getattr(agent, group), verb)


def without_identity(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in FIELDS}


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_a_method_takes_the_fields_of_its_op_with_their_defaults(op: Any) -> None:
    parameters = inspect.signature(method(Agent("o", "n", "a"), op.name)).parameters
    fields = {name: field for name, field in op.request.model_fields.items() if name not in FIELDS}
    assert set(parameters) == set(fields)
    for name, field in fields.items():
        given = parameters[name].default
        if field.is_required():
            assert given is inspect.Parameter.empty
        elif isinstance(given, Enum):
            assert given is KEEP and op.name in UPDATES
        elif field.default_factory is not None:
            assert given is None
        else:
            assert given == field.default is not PydanticUndefined


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_a_method_calls_its_op_and_answers_its_object(address: str, services: FakeServices, op: Any) -> None:
    request, answer = EXAMPLES[op.name]
    result = run(lambda agent: method(agent, op.name)(**without_identity(request)), base_url=address)
    assert result == answer
    name, context, _ = services.calls[-1]
    assert (name, context.agent) == (op.name, "sre-bot")
    assert (context.scope.org, context.scope.namespace) == (WHO["org"], WHO["namespace"])


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_a_write_and_only_a_write_carries_a_key(op: Any) -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={})

    arguments = without_identity(EXAMPLES[op.name][0])
    run(lambda agent: method(agent, op.name)(**arguments), transport=httpx.MockTransport(answer))
    assert ("idempotency-key" in seen[0].headers) is (BY_NAME[op.name].kind == "write")


def test_the_example_of_the_users_page_runs_as_it_stands(
    address: str, services: FakeServices, capsys: pytest.CaptureFixture[str]
) -> None:
    async def main() -> None:
        async with Agent("dev", "local", "sre-bot", base_url=address) as agent:
            await agent.memory.set(
                "billing/depends_on",
                "The billing service reads invoices from the ledger database.",
                entities=["billing service", "ledger database"],
            )
            walk = await agent.facts.traverse("billing service", max_hops=2, top_k_per_hop=10)
            for node in walk["nodes"]:
                print(node["hop"], " > ".join(node["path"]), node["via_co_occur"])
            route = await agent.facts.path("billing service", "ledger outage")
            print(route["found"], route["path"], route["truncated"])

    anyio.run(main)
    assert "1 billing service > ledger database 2" in capsys.readouterr().out
    written, walked, routed = (request for _, _, request in services.calls)
    assert (written.memory_key, written.entities) == (
        "billing/depends_on",
        ["billing service", "ledger database"],
    )
    assert (walked.seed_entity, walked.max_hops, walked.top_k_per_hop) == ("billing service", 2, 10)
    assert (routed.entity_a, routed.entity_b) == ("billing service", "ledger outage")


def test_absent_and_empty_and_null_stay_apart(address: str, services: FakeServices) -> None:
    async def conversation(agent: Agent) -> None:
        await agent.memory.set("k", None)
        await agent.memory.set("k", "v", entities=[])
        await agent.memory.update("k", valid_to=None, tags=[])

    run(conversation, base_url=address)
    first, second, third = (request for _, _, request in services.calls)
    assert (first.value, first.entities) == (None, None)
    assert second.entities == []
    changed = third.model_fields_set - {*FIELDS, "dry_run"}
    assert changed == {"memory_key", "valid_to", "tags"}


def test_instants_go_out_as_datetimes_or_texts(address: str, services: FakeServices) -> None:
    async def conversation(agent: Agent) -> None:
        await agent.facts.list(as_of=datetime(2025, 10, 1, 12))
        await agent.facts.list(as_of="2025-10-01T14:00:00+02:00")

    run(conversation, base_url=address)
    first, second = (request for _, _, request in services.calls)
    assert first.as_of == second.as_of


def test_the_users_identity_is_complete(address: str, services: FakeServices) -> None:
    run(lambda agent: agent.ops.health(), base_url=address, user_id="anna", session_id="s-1")
    assert (services.context.user_id, services.context.session_id) == ("anna", "s-1")


def test_address_and_token_come_from_the_environment(
    guarded_address: str, bearer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOM_BASE_URL", guarded_address)
    with pytest.raises(AuthError):
        run(lambda agent: agent.facts.list())
    monkeypatch.setenv("LOOM_API_KEY", bearer("viewer")["authorization"].removeprefix("Bearer "))
    assert run(lambda agent: agent.facts.list()) == EXAMPLES["facts.list"][1]
    with pytest.raises(Forbidden, match="role"):
        run(lambda agent: agent.memory.delete("k"))


def test_errors_have_the_class_of_their_category(address: str, services: FakeServices) -> None:
    for error in (NotFound("a", "b"), Conflict("c", "d"), Unavailable("e", "f"), Internal("g", "h")):

        def handler(_: Any, __: Any, error: Exception = error) -> Any:
            raise error

        services.answer("facts.list", handler)
        with pytest.raises(type(error)) as caught:
            run(lambda agent: agent.facts.list(), base_url=address, policy=RetryPolicy(attempts=1))
        assert (caught.value.code, caught.value.retryable) == (error.code, error.retryable)
    with pytest.raises(Invalid, match="limit"):
        run(lambda agent: agent.facts.list(limit=0), base_url=address)


def test_a_write_that_lost_its_answer_is_done_once(address: str, services: FakeServices) -> None:
    """The first answer is lost on the way; the second try gets it again from the server."""

    class LosesTheFirstAnswer(httpx.AsyncHTTPTransport):
        lost = 0

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            response = await super().handle_async_request(request)
            if not self.lost:
                self.lost += 1
                await response.aread()
                raise httpx.ReadError("connection reset")
            return response

    transport = LosesTheFirstAnswer()
    run(lambda agent: agent.memory.set("k", 1), base_url=address, transport=transport, policy=NO_WAIT)
    assert (transport.lost, len(services.calls)) == (1, 1)


def test_the_client_imports_nothing_of_the_server() -> None:
    code = "import sys; from loom import Agent; print([m for m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in (
        "pydantic",
        "starlette",
        "clickhouse_connect",
        "redis",
        "celery",
        "mcp",
        "loom_core.server",
    ):
        assert f"'{heavy}" not in loaded
