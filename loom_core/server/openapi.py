"""The OpenAPI 3.1 document: every op, its models, its examples and its errors, from the registry."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from pydantic.json_schema import models_json_schema

from loom_core.server.examples import EXAMPLES
from loom_core.server.identity import FIELDS
from loom_core.server.registry import OPS, Op
from loom_core.server.version import VERSION

REF = "#/components/schemas/{model}"

ERRORS: dict[str, str] = {
    "401": "No token, or one that does not stand.",
    "403": "The token's role, org or namespace does not reach this far.",
    "404": "What the call names does not exist.",
    "409": "The stored state contradicts the call.",
    "413": "The body is over 16 MiB.",
    "422": "The request is wrong; the message names the field.",
    "429": "Too many calls with this token; see Retry-After.",
    "500": "A fault on our side; the message names the request id.",
    "503": "A store is away or overloaded; see Retry-After.",
}
WAITS = ("429", "503")

ERROR_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["detail"],
    "properties": {
        "detail": {
            "type": "object",
            "required": ["code", "message", "category", "retryable"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "category": {
                    "enum": ["invalid", "auth", "not_found", "conflict", "limit", "unavailable", "internal"]
                },
                "retryable": {"type": "boolean"},
                "retry_after_s": {"type": "number"},
            },
        }
    },
}
NOTES: dict[str, Any] = {
    "advisories": {
        "type": "array",
        "items": {"type": "string"},
        "description": "What was clamped or dropped; absent where there is nothing to say.",
    },
    "ignored_args": {
        "type": "array",
        "items": {"type": "string"},
        "description": "Unknown input fields; absent where there were none.",
    },
}
PATHS_FOR_OPERATORS = {
    "/healthz": "The process is alive.",
    "/readyz": "The stores answer and migrations are done.",
    "/metrics": "Prometheus metrics.",
}


def _error(status: str, description: str) -> dict[str, Any]:
    response: dict[str, Any] = {
        "description": description,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    if status in WAITS:
        response["headers"] = {"Retry-After": {"schema": {"type": "integer", "minimum": 1}}}
    return response


def needs_body(op: Op) -> bool:
    """Whether an op has a field that nobody can fill in for the caller."""
    return any(field.is_required() for name, field in op.request.model_fields.items() if name not in FIELDS)


def _operation(op: Op) -> dict[str, Any]:
    request, answer = EXAMPLES[op.name]
    marks = [
        op.kind,
        *(["audited"] if op.audited else []),
        *([] if op.mcp_listed else ["not listed over MCP"]),
    ]
    operation: dict[str, Any] = {
        "operationId": op.name.replace(".", "_"),
        "tags": [op.group],
        "summary": op.summary,
        "description": f"Role {op.role}; {', '.join(marks)}; MCP tool `{op.tool}`.",
        "x-loom": {"role": op.role, "kind": op.kind, "audited": op.audited, "mcp_listed": op.mcp_listed},
        "requestBody": {
            "required": needs_body(op),
            "content": {
                "application/json": {
                    "schema": {"$ref": REF.format(model=op.request.__name__)},
                    "examples": {"usual": {"value": request}},
                }
            },
        },
        "responses": {
            "200": {
                "description": (op.response.__doc__ or "").strip(),
                "content": {
                    "application/json": {
                        "schema": {"$ref": REF.format(model=op.response.__name__)},
                        "examples": {"usual": {"value": answer}},
                    }
                },
            },
            **{status: _error(status, description) for status, description in ERRORS.items()},
        },
    }
    if op.keeps_answer:
        operation["parameters"] = [
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": False,
                "description": "A retry with the same key and body gets the first answer again.",
                "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
            }
        ]
    return operation


@lru_cache(maxsize=2)
def as_json(*, tokens: bool) -> bytes:
    """The document as it is served."""
    return json.dumps(document(tokens=tokens)).encode()


def document(*, tokens: bool) -> dict[str, Any]:
    """The document; with `tokens` it asks for a bearer token."""
    requests = [(op.request, "validation") for op in OPS]
    answers = [(op.response, "serialization") for op in OPS]
    _, definitions = models_json_schema([*requests, *answers], ref_template=REF)  # type: ignore[list-item]
    schemas: dict[str, Any] = definitions["$defs"]
    for op in OPS:
        answer = schemas[op.response.__name__]
        answer["properties"] = NOTES | answer["properties"]
    schemas["Error"] = ERROR_SCHEMA
    paths: dict[str, Any] = {f"/v1/{op.name}": {"post": _operation(op)} for op in OPS}
    for path, meaning in PATHS_FOR_OPERATORS.items():
        paths[path] = {
            "get": {"summary": meaning, "security": [], "responses": {"200": {"description": meaning}}}
        }
    paths["/readyz"]["get"]["responses"]["503"] = {"description": "Not yet, or not now."}
    components: dict[str, Any] = {"schemas": schemas}
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "Loom",
            "version": VERSION,
            "description": "Memory rows and the entity graph projected from them.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": components,
    }
    if tokens:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}
        described["security"] = [{"token": []}]
    return described
