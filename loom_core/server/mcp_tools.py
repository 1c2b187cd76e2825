"""MCP: one tool an op, and `loom_op` for all of them. The transport says who calls."""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from loom_core.errors import Invalid, LoomError
from loom_core.server.auth import Principal
from loom_core.server.dispatch import Call, Dispatcher
from loom_core.server.identity import FIELDS
from loom_core.server.registry import BY_TOOL, OPS, Op, find
from loom_core.server.version import VERSION

OP_TOOL = "loom_op"
HELP = "help"
HIDDEN_ARGUMENTS = {name: {"relations"} for name in ("memory.set", "memory.update", "memory.update_by_id")}
"""A point write takes `relations` over HTTP and in the SDK; its MCP listing does not show them."""

WhoCalls = Callable[[ServerRequestContext[Any, Any]], Principal]


@lru_cache(maxsize=len(OPS))
def _schema(op: Op) -> dict[str, Any]:
    schema = op.request.model_json_schema()
    hidden = HIDDEN_ARGUMENTS.get(op.name, set())
    schema["properties"] = {name: field for name, field in schema["properties"].items() if name not in hidden}
    # The token or the install fills the identity, so a model need not know it.
    schema["required"] = [name for name in schema.get("required", []) if name not in FIELDS]
    used = json.dumps(schema["properties"])
    if "$defs" in schema:
        schema["$defs"] = {name: item for name, item in schema["$defs"].items() if f"#/$defs/{name}" in used}
    return schema


def input_schema(op: Op) -> dict[str, Any]:
    """The JSON schema of an op's arguments as MCP shows it."""
    return copy.deepcopy(_schema(op))


def tools() -> list[types.Tool]:
    """The tools that are listed: the ops that are not kept out of the listing, and `loom_op`."""
    listed = [
        types.Tool(
            name=op.tool,
            title=op.name,
            description=f"{op.summary} Role: {op.role}.",
            input_schema=input_schema(op),
            annotations=types.ToolAnnotations(read_only_hint=op.kind == "read", open_world_hint=False),
        )
        for op in OPS
        if op.mcp_listed
    ]
    return [*listed, _op_tool()]


def _op_tool() -> types.Tool:
    return types.Tool(
        name=OP_TOOL,
        title="Any op",
        description=f'Call any op by name. op="{HELP}" lists them, or those that `query` names.',
        input_schema={
            "type": "object",
            "required": ["op"],
            "properties": {
                "op": {"type": "string", "description": f"The op, e.g. facts.traverse; or {HELP}."},
                "query": {
                    "type": "string",
                    "description": f"The op's `query`; with {HELP}, words to look for.",
                },
                "arguments": {
                    "type": "object",
                    "description": "The op's arguments.",
                    "additionalProperties": True,
                },
            },
        },
        annotations=types.ToolAnnotations(open_world_hint=False),
    )


def describe(query: str | None) -> dict[str, Any]:
    """The ops whose name or summary holds every word of `query`; few enough, they come with their schema."""
    words = (query or "").lower().split()
    found = [op for op in OPS if all(word in f"{op.name} {op.summary}".lower() for word in words)]
    entries = [
        {
            "op": op.name,
            "role": op.role,
            "kind": op.kind,
            "summary": op.summary,
            "arguments": sorted(input_schema(op)["properties"]),
        }
        | ({"input_schema": input_schema(op)} if len(found) <= 3 else {})
        for op in found
    ]
    return {"ops": entries}


def unpack(arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The op and the arguments inside a `loom_op` call. Raises `Invalid` for another shape."""
    name, inner, query = arguments.get("op"), arguments.get("arguments"), arguments.get("query")
    if not isinstance(name, str):
        raise Invalid("invalid_request", "op: name an op, or help")
    if inner is not None and not isinstance(inner, dict):
        raise Invalid("invalid_request", "arguments: must be an object")
    if query is not None and not isinstance(query, str):
        raise Invalid("invalid_request", "query: must be a string")
    return name, ({} if query is None else {"query": query}) | (inner or {})


def _result(body: dict[str, Any], *, failed: bool = False) -> types.CallToolResult:
    text = json.dumps(body, ensure_ascii=False, allow_nan=False)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=body, is_error=failed
    )


def build_server(dispatcher: Dispatcher, who_calls: WhoCalls) -> Server[Any]:
    """The MCP server. An op's error is a tool result with `is_error`: a model can read and mend it."""

    async def list_tools(
        _: ServerRequestContext[Any, Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools())

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            arguments = dict(params.arguments or {})
            name = params.name
            if name == OP_TOOL:
                name, arguments = unpack(arguments)
                if name == HELP:
                    return _result(describe(arguments.get("query")))
            op = BY_TOOL.get(name) or find(name)
            call = Call(op, who_calls(context), arguments, "mcp", uuid.uuid4().hex)
            return _result(await dispatcher.run(call))
        except LoomError as error:
            return _result({"detail": error.detail()}, failed=True)

    return Server(
        "loom",
        version=VERSION,
        title="Loom memory",
        instructions=f'Long-term memory with an entity graph. {OP_TOOL}(op="{HELP}") lists every op.',
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda name: input_schema(BY_TOOL[name]) if name in BY_TOOL else None,
    )
