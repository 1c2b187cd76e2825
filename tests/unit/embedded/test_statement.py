"""What a SQL text is: found by its tokens, never fooled by what strings, names and comments hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_core.embedded.statement import MalformedStatement, parse

HIDERS = [
    b"'a ; format JSON values ('",
    b"'it''s ; \\' format X'",
    b'"a ; format"',
    b"`select ; format x`",
    b"/* ; format JSON\n values ( */",
    b"-- ; format JSON\n",
    b"# ; format JSON\n",
    b"$$ ; format JSON $$",
    b"$tag$ ; $$ format JSON $tag$",
]


@pytest.mark.parametrize(
    ("text", "keyword", "is_read", "format_"),
    [
        (b"SELECT 1", "SELECT", True, None),
        (b" \n-- a comment\n/* another */ select 1 format JSON", "SELECT", True, "JSON"),
        (b"(SELECT 1) UNION ALL SELECT 2 FORMAT CSV SETTINGS max_threads = 1;", "SELECT", True, "CSV"),
        (b"WITH 1 AS x SELECT x FORMAT\nNative -- so", "WITH", True, "Native"),
        (b"SELECT format FROM t", "SELECT", True, None),
        (b"SELECT a AS format, b FROM t FORMAT TSV", "SELECT", True, "TSV"),
        (b"SELECT format('{}', 1)", "SELECT", True, None),
        (b"SELECT * FROM (SELECT 1 FORMAT JSON)", "SELECT", True, None),
        (b"WITH 1 AS x INSERT INTO t SELECT x", "INSERT", False, None),
        (b"SHOW TABLES FORMAT JSON", "SHOW", False, "JSON"),
        (b"OPTIMIZE TABLE t FINAL", "OPTIMIZE", False, None),
    ],
)
def test_keyword_and_answer_format(text: bytes, keyword: str, is_read: bool, format_: str | None) -> None:
    statement = parse(text)
    assert (statement.keyword, statement.is_read, statement.format) == (keyword, is_read, format_)
    assert statement.data_at is None


@pytest.mark.parametrize(
    ("head", "format_", "gap"),
    [
        (b"INSERT INTO t ", "Native", b"\n"),
        (b"insert into `db`.`values` (`format`, `a;b`) ", "JSONEachRow", b" ;\r\n"),
        (b"/* why */ INSERT INTO t SETTINGS a = 'FORMAT x' ", "CSV", b""),
        (b"INSERT INTO FUNCTION file('x', 'CSV', 'values String') ", "TSV", b"\t\n"),
    ],
)
def test_an_inserts_data_begins_after_its_format(head: bytes, format_: str, gap: bytes) -> None:
    data = b"; SELECT 1\n\n'("
    text = head + b"FORMAT " + format_.encode() + gap + (data if gap else b"")
    statement = parse(text)
    assert statement.keyword == "INSERT"
    assert statement.format == format_
    assert statement.data_at is not None
    assert text[statement.data_at :] == (data if gap else b"")
    assert statement.head + statement.settings == head.removeprefix(b"/* why */ ")
    assert statement.settings == (b"SETTINGS a = 'FORMAT x' " if b"SETTINGS" in head else b"")


@pytest.mark.parametrize("gap", [b"", b" ", b"\n"])
def test_an_inserts_data_begins_after_values(gap: bytes) -> None:
    statement = parse(b"INSERT INTO t (a) VALUES" + gap + b"('; x'), (2)")
    assert (statement.format, statement.head) == ("Values", b"INSERT INTO t (a) ")
    assert statement.data_at is not None


@pytest.mark.parametrize(
    "text",
    [
        b"INSERT INTO t SELECT 1",
        b"INSERT INTO t SELECT * FROM values('a UInt8', 1)",
        b"INSERT INTO t WITH 1 AS x SELECT x",
        b"INSERT INTO t (a) (SELECT 1)",
        b"INSERT INTO t FROM INFILE 'x' FORMAT CSV",
    ],
)
def test_an_insert_from_a_query_has_no_data(text: bytes) -> None:
    assert parse(text).data_at is None


@pytest.mark.parametrize("text", [b"", b"  \n", b"-- nothing\n", b"/* nothing */", b";"])
def test_no_statement_is_refused(text: bytes) -> None:
    with pytest.raises(MalformedStatement, match="Empty"):
        parse(text)


@pytest.mark.parametrize("text", [b"SELECT 1; SELECT 2", b"SELECT 1;;", b"DROP TABLE a; -- x\n DROP TABLE b"])
def test_a_second_statement_is_refused(text: bytes) -> None:
    with pytest.raises(MalformedStatement, match="Multi"):
        parse(text)


@pytest.mark.parametrize("text", [b"SELECT 1;", b"SELECT 1 ; \n -- the end\n", b"SELECT 1; /* so */ # x"])
def test_a_closing_semicolon_is_no_second_statement(text: bytes) -> None:
    assert parse(text).is_read


@pytest.mark.parametrize("hider", HIDERS)
def test_what_is_quoted_or_commented_is_not_read(hider: bytes) -> None:
    statement = parse(b"SELECT " + hider + b", 1 FORMAT Native")
    assert statement.format == "Native"


@given(st.lists(st.sampled_from([*HIDERS, b"x", b"(1)", b", ", b"\n"]), max_size=12))
def test_hidden_words_change_nothing_in_any_order(parts: list[bytes]) -> None:
    statement = parse(b"SELECT 1 " + b" ".join(parts) + b"\nFORMAT JSON")
    assert (statement.keyword, statement.format, statement.data_at) == ("SELECT", "JSON", None)


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        (b"SET a = 1", True),
        (b"use db", True),
        (b"CREATE TEMPORARY TABLE t (x UInt8)", True),
        (b"CREATE TABLE t (x UInt8) ENGINE = Memory", False),
        (b"SELECT 1 SETTINGS a = 1", False),
    ],
)
def test_what_only_a_session_gives_a_meaning_is_known(text: bytes, needs: bool) -> None:
    assert parse(text).needs_session is needs


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    try:
        statement = parse(text)
    except MalformedStatement:
        return
    assert statement.data_at is None or statement.data_at <= len(text)
