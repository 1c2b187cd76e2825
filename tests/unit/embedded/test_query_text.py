"""A request's statement and data: from its argument, its body, a form; in whatever pieces they come."""

import io

import pytest

from loom_core.embedded.form import read_form
from loom_core.embedded.http_request import BadRequest
from loom_core.embedded.query_text import StatementError, read_statement


class Bytes:
    def __init__(self, data: bytes, piece: int = 1 << 20) -> None:
        self._source = io.BytesIO(data)
        self._piece = piece

    def read(self, limit: int) -> bytes:
        return self._source.read(min(limit, self._piece))


@pytest.mark.parametrize("argument", [True, False])
@pytest.mark.parametrize("size", [0, 10, 100_000, 5_000_000])
def test_data_is_told_from_its_head_at_any_size(argument: bool, size: int) -> None:
    head, data = "INSERT INTO t (a) FORMAT Native", b"\n\n\0;" * (size // 4)
    if argument:
        statement, text, pieces = read_statement(head, Bytes(data, 777))
    else:
        statement, text, pieces = read_statement("", Bytes(head.encode() + b"\n" + data, 777))
    assert (statement.format, text) == ("Native", b"INSERT INTO t (a) ")
    assert pieces is not None
    # An argument and the body are joined by a line end, which is the one before the data.
    assert b"".join(pieces) == data


def test_a_long_query_is_read_whole() -> None:
    sql = b"SELECT 1 WHERE x IN (" + b"'some ; name', " * 20_000 + b"1)"
    statement, text, pieces = read_statement("", Bytes(sql, 1000))
    assert (statement.keyword, text, pieces) == ("SELECT", sql, None)


def test_a_head_longer_than_a_first_look_is_found() -> None:
    columns = ", ".join(f"`column {i}`" for i in range(10_000))
    statement, text, pieces = read_statement(
        "", Bytes(f"INSERT INTO t ({columns}) FORMAT CSV\n1".encode(), 1000)
    )
    assert (statement.format, len(text) > 100_000) == ("CSV", True)
    assert pieces is not None
    assert b"".join(pieces) == b"1"


def test_an_argument_goes_on_in_the_body() -> None:
    assert read_statement("SELECT", Bytes(b"1"))[1] == b"SELECT\n1"


@pytest.mark.parametrize("text", [b"", b"SELECT 1; SELECT 2"])
def test_no_single_statement_is_a_syntax_error(text: bytes) -> None:
    with pytest.raises(StatementError) as caught:
        read_statement("", Bytes(text))
    assert caught.value.code == 62
    assert "SYNTAX_ERROR" in str(caught.value)


def form(*fields: tuple[str, str], end: str = "--") -> bytes:
    parts = (f"--B\r\nContent-Disposition: form-data; {head}\r\n\r\n{value}\r\n" for head, value in fields)
    return ("".join(parts) + f"--B{end}\r\n").encode()


def test_a_forms_fields_are_read_as_they_are() -> None:
    fields = (('name="query"', "SELECT 1\r\n  , 2 "), ('name="param_x"', "é=+ \t"), ('name="empty"', ""))
    found = read_form("multipart/form-data; boundary=B", Bytes(form(*fields)))
    assert found == {"query": "SELECT 1\r\n  , 2 ", "param_x": "é=+ \t", "empty": ""}


def test_an_attached_table_is_refused() -> None:
    with pytest.raises(StatementError, match="external data"):
        read_form("multipart/form-data; boundary=B", Bytes(form(('name="t"; filename="t.csv"', "1"))))


@pytest.mark.parametrize(
    ("content_type", "raw"),
    [
        ("multipart/form-data; boundary=B", form(("x=y", "1"))),
        ("multipart/form-data; boundary=B", form(('name="query"', "SELECT 1"))[:-8]),
        ("multipart/form-data; boundary=B", b"SELECT 1"),
        ("multipart/form-data", form(('name="query"', "SELECT 1"))),
    ],
    ids=["no name", "cut short", "no form", "no boundary"],
)
def test_what_is_no_form_is_refused(content_type: str, raw: bytes) -> None:
    with pytest.raises(BadRequest):
        read_form(content_type, Bytes(raw))
