"""The page at `/docs`: each op's role, kind, MCP listing and fields. One file of HTML, nothing fetched."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import Any

from loom_core.server.registry import OPS, Op
from loom_core.server.version import VERSION

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1b1f23}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #ddd}
td{vertical-align:top}code{background:#f3f4f6;padding:.1rem .25rem;border-radius:3px}
section{margin:2.5rem 0}h2 code{background:none}.marks{color:#57606a}
@media(prefers-color-scheme:dark){body{background:#14171a;color:#dde1e6}code{background:#23282d}
th,td{border-color:#333a41}a{color:#7ab7ff}.marks{color:#9aa4ae}}
"""


def _kind(op: Op) -> str:
    return f"{op.kind}, audited" if op.audited else op.kind


def _type(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_type(option) for option in field["anyOf"]))
    if "enum" in field:
        return " | ".join(map(str, field["enum"]))
    if "$ref" in field:
        return str(field["$ref"]).rsplit("/", 1)[-1]
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}"
    return str(field.get("format") or field.get("type") or "any JSON")


def _fields(op: Op) -> str:
    schema = op.request.model_json_schema()
    required = schema.get("required", [])
    rows = []
    for name, field in schema["properties"].items():
        default = "required" if name in required else repr(field.get("default", "computed"))
        cells = (f"<code>{escape(name)}</code>", _type(field), default, field.get("description", ""))
        rows.append("<tr><td>" + "</td><td>".join([cells[0], *map(escape, cells[1:])]) + "</td></tr>")
    return "".join(rows)


def _section(op: Op) -> str:
    listed = "listed" if op.mcp_listed else "callable, not listed"
    return (
        f'<section id="{op.name}"><h2><code>{op.name}</code></h2><p>{escape(op.summary)}</p>'
        f'<p class="marks">POST /v1/{op.name} · role {op.role} · {_kind(op)} · '
        f"MCP <code>{op.tool}</code> ({listed})</p>"
        "<table><thead><tr><th>Field<th>Type<th>Default<th>Meaning</tr></thead>"
        f"<tbody>{_fields(op)}</tbody></table></section>"
    )


@lru_cache(maxsize=1)
def render() -> str:
    """The page."""
    rows = "".join(
        f'<tr><td><a href="#{op.name}"><code>{op.name}</code></a></td><td>{op.role}</td><td>{_kind(op)}</td>'
        f"<td>{'yes' if op.mcp_listed else 'no'}</td><td>{escape(op.summary)}</td></tr>"
        for op in OPS
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Loom operations</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
        f"<h1>Loom {escape(VERSION)}</h1><p>Every op is <code>POST /v1/&lt;op&gt;</code> and an MCP tool; "
        'for programs there is <a href="/openapi.json">/openapi.json</a>. Unknown input fields are served '
        "and named in <code>ignored_args</code>; a number over its cap is clamped and named in "
        "<code>advisories</code>.</p>"
        "<table><thead><tr><th>Op<th>Role<th>Kind<th>Listed over MCP<th>Does</tr></thead>"
        f"<tbody>{rows}</tbody></table>{''.join(_section(op) for op in OPS)}</body></html>"
    )
