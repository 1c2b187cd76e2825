"""ClickHouse's HTTP dialect: a request as a query, an outcome as headers.

Every request stands alone. A `session_id` is accepted, as clients send one by habit, but a statement that
only a session gives a meaning (SET, USE, temporary tables) is refused rather than forgotten.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field

from loom_core.embedded.coding import decoded
from loom_core.embedded.form import read_form
from loom_core.embedded.formats import CONTENT_TYPES
from loom_core.embedded.http_request import BadRequest, Request
from loom_core.embedded.outcome import Counts, Settings
from loom_core.embedded.query_text import NO_BODY, read_statement, refusal
from loom_core.embedded.statement import Statement

_QUERY_ID = re.compile(r"[\w.:-]{1,128}\Z", re.ASCII)
_FORMAT = re.compile(r"\w{1,64}\Z", re.ASCII)
_KILL = re.compile(
    rb"\s*KILL\s+QUERY\s+WHERE\s+query_id\s*=\s*'([\w.:-]*)'(\s+(?:SYNC|ASYNC|TEST))?\s*;?\s*\Z",
    re.IGNORECASE,
)
_REFUSED = {"compress": "1", "decompress": "1"}
# Arguments about the transport or the login; all others are settings.
_NOT_SETTINGS = {
    "query", "database", "query_id", "default_format", "session_id", "session_timeout", "session_check",
    "close_session", "user", "password", "quota_key", "role", "stacktrace", "buffer_size", "compress",
    "decompress", "wait_end_of_query", "client_protocol_version", "enable_http_compression",
    "send_progress_in_http_headers", "http_headers_progress_interval_ms",
    "cancel_http_readonly_queries_on_client_close",
}  # fmt: skip


@dataclass(slots=True)
class Query:
    """What a request asks the engine to do. `data` is an INSERT's; its `text` is then the head only."""

    statement: Statement
    text: bytes
    data: Iterator[bytes] | None
    output_format: str
    database: str
    query_id: str
    settings: Settings = ()
    params: dict[str, str] = field(default_factory=dict)
    whole: bool = False
    accepted_codings: str = ""

    @property
    def marker(self) -> str:
        """The comment that ends the running text: the engine has query ids of its own."""
        return marker(self.query_id)


def marker(query_id: str) -> str:
    """The comment that marks a running query."""
    return f"/* query_id: {query_id} */"


def read_query(request: Request) -> Query:
    """The query of a request. Raises `BadRequest`, and `StatementError` for what a server would refuse."""
    args = dict(request.args)
    body = decoded(request.body, request.headers.get("content-encoding", ""))
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        args.update(read_form(request.headers["content-type"], body))
        body = NO_BODY
    for name, refused in _REFUSED.items():
        if args.get(name) == refused:
            raise refusal(f"{name}={refused} (ClickHouse's own block compression) is not supported")
    statement, text, data = read_statement(args.get("query", ""), body)
    params = {name[6:]: value for name, value in args.items() if name.startswith("param_")}
    if statement.needs_session:
        raise refusal(f"{statement.keyword} has no effect here: requests have no session")
    settings = {name: value for name, value in args.items() if _is_setting(name)}
    if request.method == "GET":
        settings["readonly"] = "2"  # as a server does: a GET never changes anything
    query_id = args.get("query_id") or str(uuid.uuid4())
    if not _QUERY_ID.match(query_id):
        raise BadRequest("query_id: at most 128 letters, digits, and . : _ -")
    asked = args.get("default_format") or request.headers.get("x-clickhouse-format") or "TabSeparated"
    if not _FORMAT.match(asked):
        raise BadRequest("a format's name is made of letters and digits")
    return Query(
        statement=statement,
        text=_kill_by_marker(text) if statement.keyword == "KILL" else text,
        data=data,
        output_format=statement.format if statement.format and statement.data_at is None else asked,
        database=args.get("database") or request.headers.get("x-clickhouse-database", ""),
        query_id=query_id,
        settings=tuple(sorted(settings.items())),
        params=params,
        whole=args.get("wait_end_of_query") == "1",
        accepted_codings=(
            request.headers.get("accept-encoding", "") if args.get("enable_http_compression") == "1" else ""
        ),
    )


def _is_setting(name: str) -> bool:
    return name not in _NOT_SETTINGS and not name.startswith("param_")


def _kill_by_marker(text: bytes) -> bytes:
    """KILL by the caller's query id, in terms of the engine, which has ids of its own."""
    found = _KILL.match(text)
    if found is None:
        return text
    sought = marker(found[1].decode()).encode()
    return b"KILL QUERY WHERE endsWith(query, '%b')%b" % (sought, found[2] or b"")


def headers_of(query: Query, timezone: str) -> list[tuple[str, str]]:
    """What is known of an answer before the statement runs."""
    content_type = CONTENT_TYPES.get(query.output_format, "application/octet-stream")
    return [
        ("Content-Type", content_type),
        ("X-ClickHouse-Query-Id", query.query_id),
        ("X-ClickHouse-Format", query.output_format),
        ("X-ClickHouse-Timezone", timezone),
    ]


def summary_of(counts: Counts, elapsed_s: float) -> tuple[str, str]:
    """The summary header: rows and bytes so far."""
    summary = {
        "read_rows": counts.read_rows,
        "read_bytes": counts.read_bytes,
        "written_rows": counts.written_rows,
        "written_bytes": counts.written_bytes,
        "result_rows": counts.result_rows,
        "result_bytes": counts.result_bytes,
        "elapsed_ns": int(elapsed_s * 1e9),
    }
    return "X-ClickHouse-Summary", json.dumps({name: str(value) for name, value in summary.items()})
