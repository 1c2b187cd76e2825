"""The MCP surface, by the protocol's own client: every tool, over HTTP (both eras of the protocol) and stdio."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import jsonschema
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from loom_core.server.examples import EXAMPLES
from loom_core.server.registry import BY_NAME, OPS
from tests.support.fake_services import FakeServices

ROOT = Path(__file__).resolve().parents[2]
MODES = ["auto", "legacy"]
Bearer = Callable[..., dict[str, str]]


def talk(client: Client, conversation: Callable[[Client], Any]) -> Any:
    async def run() -> Any:
        async with client:
            return await conversation(client)

    return anyio.run(run)


def call(address: str, tool: str, arguments: dict[str, Any], mode: str = "auto") -> Any:
    return talk(Client(f"{address}/mcp", mode=mode), lambda client: client.call_tool(tool, arguments))


def listed(address: str, mode: str = "auto") -> dict[str, Any]:
    tools = talk(Client(f"{address}/mcp", mode=mode), lambda client: client.list_tools()).tools
    return {tool.name: tool for tool in tools}


@pytest.mark.parametrize("mode", MODES)
def test_every_op_is_listed_but_those_kept_out_and_each_answers(address: str, mode: str) -> None:
    async def conversation(client: Client) -> set[str]:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        for op in OPS:
            request, answer = EXAMPLES[op.name]
            if op.mcp_listed:
                jsonschema.validate(request, tools[op.tool].input_schema)
            result = await client.call_tool(op.tool, request)
            assert not result.is_error
            assert result.structured_content == answer
            assert json.loads(result.content[0].text) == answer
        return set(tools)

    names = talk(Client(f"{address}/mcp", mode=mode), conversation)
    assert names == {op.tool for op in OPS if op.mcp_listed} | {"loom_op"}


def test_relations_are_callable_but_not_shown_for_a_point_write(address: str, services: FakeServices) -> None:
    tools = listed(address)
    for tool in ("loom_memory_set", "loom_memory_update", "loom_memory_update_by_id"):
        schema = tools[tool].input_schema
        assert "relations" not in schema["properties"]
        assert "Relation" not in json.dumps(schema)
    assert "relations" in tools["loom_facts_traverse"].input_schema["properties"]
    call(address, "loom_memory_set", {"memory_key": "k", "value": 1, "relations": [["a", "own", "b"]]})
    assert services.asked.relations[0].object == "b"


def test_the_identity_need_not_be_known_to_a_model(address: str, services: FakeServices) -> None:
    assert "org" not in listed(address)["loom_facts_traverse"].input_schema["required"]
    assert not call(address, "loom_facts_traverse", {"seed_entity": "a"}).is_error
    assert (services.context.scope.org, services.context.scope.namespace) == ("dev", "local")


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_loom_op_calls_any_op(address: str, services: FakeServices, op: Any) -> None:
    request, answer = EXAMPLES[op.name]
    result = call(address, "loom_op", {"op": op.name, "arguments": request})
    assert result.structured_content == answer
    assert services.calls[-1][0] == op.name


def test_loom_op_hands_its_query_to_the_op(address: str, services: FakeServices) -> None:
    call(address, "loom_op", {"op": "memory.search", "query": "billing", "arguments": {"limit": 3}})
    assert (services.asked.query, services.asked.limit) == ("billing", 3)


def test_help_lists_every_op_and_with_a_query_those_that_it_names(address: str) -> None:
    every = call(address, "loom_op", {"op": "help"}).structured_content["ops"]
    assert [entry["op"] for entry in every] == list(BY_NAME)
    assert "input_schema" not in every[0]
    few = call(address, "loom_op", {"op": "help", "query": "facts.path"}).structured_content["ops"]
    assert [entry["op"] for entry in few] == ["facts.path"]
    assert few[0]["input_schema"]["properties"]["max_hops"]["default"] == 3


@pytest.mark.parametrize(
    ("tool", "arguments", "category", "said"),
    [
        ("loom_facts_traverse", {"seed_entity": "a", "max_hops": "2"}, "invalid", "max_hops"),
        ("loom_facts_traverse", {"seed_entity": "a\0"}, "invalid", "seed_entity"),
        ("loom_memory_set", {"memory_key": "k"}, "invalid", "value"),
        ("loom_no_such_tool", {}, "not_found", "loom_no_such_tool"),
        ("loom_op", {"op": "facts.travers"}, "not_found", "facts.traverse"),
        ("loom_op", {}, "invalid", "op"),
        ("loom_op", {"op": "facts.list", "arguments": [1]}, "invalid", "arguments"),
        ("loom_op", {"op": "help", "query": 5}, "invalid", "query"),
    ],
)
def test_what_is_wrong_comes_back_for_the_model_to_mend(
    address: str, tool: str, arguments: dict[str, Any], category: str, said: str
) -> None:
    result = call(address, tool, arguments)
    detail = result.structured_content["detail"]
    assert result.is_error
    assert (detail["category"], said in detail["message"]) == (category, True)


def test_without_a_token_that_stands_nothing_is_served(guarded_address: str) -> None:
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for extra in ({}, {"authorization": "Bearer abc"}):
        response = httpx.post(f"{guarded_address}/mcp", json=body, headers=headers | extra)
        assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize("mode", MODES)
def test_a_tools_caller_is_its_tokens(
    guarded_address: str, bearer: Bearer, services: FakeServices, mode: str
) -> None:
    async def run() -> tuple[Any, Any, Any]:
        async with (
            httpx2.AsyncClient(headers=bearer("viewer", "acme", "billing")) as http,
            Client(streamable_http_client(f"{guarded_address}/mcp", http_client=http), mode=mode) as client,
        ):
            read = await client.call_tool("loom_facts_traverse", {"seed_entity": "a"})
            write = await client.call_tool("loom_memory_set", {"memory_key": "k", "value": 1})
            other = await client.call_tool("loom_facts_traverse", {"seed_entity": "a", "org": "other"})
        return read, write, other

    read, write, other = anyio.run(run)
    assert not read.is_error
    assert (services.context.scope.org, services.context.scope.namespace) == ("acme", "billing")
    assert write.structured_content["detail"]["code"] == "role_too_low"
    assert other.structured_content["detail"]["code"] == "foreign_org"
    assert len(services.calls) == 1


def test_over_stdio_the_same_tools_answer() -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tests.support.mcp_over_stdio"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
    )

    async def conversation(client: Client) -> tuple[set[str], Any]:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        return tools, await client.call_tool(
            "loom_op", {"op": "facts.path", "arguments": EXAMPLES["facts.path"][0]}
        )

    names, result = talk(Client(server), conversation)
    assert {op.tool for op in OPS if op.mcp_listed} < names
    assert result.structured_content == EXAMPLES["facts.path"][1]
