"""ClickHouse's HTTP dialect: which argument means what."""

import io
import json

import pytest

from loom_core.embedded.http_request import BadRequest, Request
from loom_core.embedded.outcome import Counts, EngineError
from loom_core.embedded.protocol import headers_of, marker, read_query, summary_of
from loom_core.embedded.query_text import StatementError


class Bytes(io.BytesIO):
    def read(self, limit: int | None = -1) -> bytes:
        return super().read(limit)


def query(
    text: bytes = b"SELECT 1", *, method: str = "POST", headers: dict[str, str] | None = None, **args: str
):
    return read_query(Request(method, "/", list(args.items()), headers or {}, Bytes(text), True))


def test_arguments_are_settings_unless_they_are_about_the_request() -> None:
    found = query(
        database="db", query_id="q-1", session_id="s", user="u", password="p", max_threads="2", final="1",
        param_x="7", wait_end_of_query="1", send_progress_in_http_headers="1", client_protocol_version="54405",
    )  # fmt: skip
    assert found.settings == (("final", "1"), ("max_threads", "2"))
    assert (found.database, found.query_id, found.params, found.whole) == ("db", "q-1", {"x": "7"}, True)


def test_the_same_settings_in_any_order_are_the_same() -> None:
    assert query(b="1", a="2").settings == query(a="2", b="1").settings


@pytest.mark.parametrize(
    ("sql", "args", "headers", "format_"),
    [
        (b"SELECT 1", {}, {}, "TabSeparated"),
        (b"SELECT 1", {"default_format": "JSON"}, {}, "JSON"),
        (b"SELECT 1", {}, {"x-clickhouse-format": "CSV"}, "CSV"),
        (b"SELECT 1 FORMAT Native", {"default_format": "JSON"}, {}, "Native"),
        (b"INSERT INTO t FORMAT CSV\n1", {}, {}, "TabSeparated"),
    ],
)
def test_the_statement_decides_the_format_before_the_request(
    sql: bytes, args: dict[str, str], headers: dict[str, str], format_: str
) -> None:
    found = query(sql, headers=headers, **args)
    assert found.output_format == format_
    assert ("X-ClickHouse-Format", format_) in headers_of(found, "UTC")


def test_a_get_is_read_only() -> None:
    assert ("readonly", "2") in query(b"", method="GET", query="SELECT 1").settings
    assert query().settings == ()


@pytest.mark.parametrize("sql", [b"SET a = 1", b"USE db", b"CREATE TEMPORARY TABLE t (x UInt8)"])
def test_what_a_session_would_keep_is_refused(sql: bytes) -> None:
    with pytest.raises(StatementError, match="no session"):
        query(sql)


@pytest.mark.parametrize("argument", ["compress", "decompress"])
def test_clickhouses_own_compression_is_refused(argument: str) -> None:
    with pytest.raises(StatementError, match=argument):
        query(**{argument: "1"})


@pytest.mark.parametrize("query_id", ["a b", "*/ DROP", "x" * 200, "'"])
def test_an_id_that_could_end_its_comment_is_refused(query_id: str) -> None:
    with pytest.raises(BadRequest):
        query(query_id=query_id)


@pytest.mark.parametrize("format_", ["CSV\r\nSet-Cookie: a=b", "a b", "é"])
def test_a_format_that_could_end_its_header_is_refused(format_: str) -> None:
    with pytest.raises(BadRequest):
        query(default_format=format_)


def test_each_query_without_an_id_gets_one() -> None:
    assert query().query_id != query().query_id


@pytest.mark.parametrize("how", [b"", b" SYNC", b" async"])
def test_a_kill_by_id_finds_the_query_by_its_comment(how: bytes) -> None:
    found = query(b"KILL QUERY WHERE query_id = 'q-1'" + how + b" ;\n")
    assert found.text == b"KILL QUERY WHERE endsWith(query, '" + marker("q-1").encode() + b"')" + how


def test_any_other_kill_is_left_as_it_is() -> None:
    sql = b"KILL QUERY WHERE user = 'x' AND query_id = 'q-1'"
    assert query(sql).text == sql


def test_answers_are_packed_only_where_the_client_asks_twice() -> None:
    headers = {"accept-encoding": "gzip"}
    assert query(headers=headers).accepted_codings == ""
    assert query(headers=headers, enable_http_compression="1").accepted_codings == "gzip"


def test_the_summary_has_its_figures_as_text() -> None:
    name, value = summary_of(Counts(read_rows=1, written_rows=2), 0.5)
    assert name == "X-ClickHouse-Summary"
    assert json.loads(value)["written_rows"] == "2"
    assert json.loads(value)["elapsed_ns"] == "500000000"


@pytest.mark.parametrize(
    ("message", "code", "text"),
    [
        (
            "Code: 60. DB::Exception: no t. (UNKNOWN_TABLE)",
            60,
            "Code: 60. DB::Exception: no t. (UNKNOWN_TABLE)",
        ),
        ("Failed to open: Code: 76. DB::Exception: x", 76, "Code: 76. DB::Exception: x"),
        ("something else", 1002, "something else"),
    ],
)
def test_an_engines_error_keeps_its_code(message: str, code: int, text: str) -> None:
    error = EngineError(message)
    assert (error.code, str(error)) == (code, text)
