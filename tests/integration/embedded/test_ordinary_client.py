"""The ordinary ClickHouse client against the owner: what it sends is understood, what it reads is right."""

import contextlib
import gzip
import threading
from datetime import UTC, datetime

import lz4.frame
import pytest
from backports import zstd
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError

from tests.integration.embedded.conftest import connect
from tests.support.servers import ServerProcess


@pytest.mark.parametrize("compress", [False, "lz4", "zstd", "gzip"])
def test_rows_come_back_as_they_went_in(owner: ServerProcess, table: str, compress: bool | str) -> None:
    client = connect(owner, compress=compress)
    at = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
    rows = [[f"key {i} \0 é 北京 '\\\n", i, at] for i in range(3000)]
    client.insert(table, rows, column_names=["k", "v", "at"])
    read = client.query(f"SELECT k, v, at FROM {table} ORDER BY v").result_rows
    assert [list(row) for row in read] == [[k, v, at.replace(tzinfo=None)] for k, v, at in rows]
    client.close()


def test_parameters_are_bound_on_the_server(client: Client) -> None:
    values = {"s": "it's \\ a\ttab\n", "a": ["x", "y'z"], "n": None, "i": 7}
    sql = "SELECT {s:String}, {a:Array(String)}, {n:Nullable(String)}, {i:UInt8}"
    assert client.query(sql, parameters=values).result_rows == [("it's \\ a\ttab\n", ["x", "y'z"], None, 7)]


def test_parameters_too_long_for_a_url_come_in_a_form(client: Client) -> None:
    names = [f"name {i} é" for i in range(20_000)]
    assert client.query("SELECT length({names:Array(String)})", parameters={"names": names}).result_rows == [
        (20_000,)
    ]


def test_settings_of_one_request_do_not_leak_into_the_next(client: Client) -> None:
    sql = "SELECT getSetting('max_block_size')"
    before = client.query(sql).result_rows
    assert client.query(sql, settings={"max_block_size": 4321}).result_rows == [(4321,)]
    assert client.query(sql).result_rows == before


def test_a_database_is_chosen_by_request(client: Client) -> None:
    client.command("CREATE DATABASE IF NOT EXISTS `other db`")
    client.database = "other db"
    assert client.command("SELECT currentDatabase()") == "other db"
    client.database = "default"
    assert client.command("SELECT currentDatabase()") == "default"


@pytest.mark.parametrize(
    ("sql", "code", "name"),
    [
        ("SELECT * FROM no_such_table", 60, "UNKNOWN_TABLE"),
        ("SELEC 1", 62, "SYNTAX_ERROR"),
        ("SELECT 1; SELECT 2", 62, "SYNTAX_ERROR"),
        ("", 62, "SYNTAX_ERROR"),
        ("SELECT throwIf(1, 'by request')", 395, "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO"),
        ("SELECT {missing:String}", 456, "UNKNOWN_QUERY_PARAMETER"),
        ("SET max_threads = 1", 48, "NOT_IMPLEMENTED"),
        ("CREATE TEMPORARY TABLE t (x UInt8)", 48, "NOT_IMPLEMENTED"),
    ],
)
def test_an_exception_keeps_its_code_and_name(client: Client, sql: str, code: int, name: str) -> None:
    with pytest.raises(DatabaseError) as caught:
        client.raw_query(sql or " ")
    assert (caught.value.code, caught.value.name) == (code, name)


def test_an_unknown_setting_is_an_error(client: Client) -> None:
    with pytest.raises(DatabaseError) as caught:
        client.query("SELECT 1", settings={"no_such_setting": 1})
    assert caught.value.code == 115


def test_a_time_limit_ends_a_query(client: Client) -> None:
    with pytest.raises(DatabaseError) as caught:
        client.query("SELECT sum(number) FROM numbers(1e12)", settings={"max_execution_time": 0.2})
    assert caught.value.code == 159


def test_a_get_changes_nothing(client: Client, owner: ServerProcess, table: str) -> None:
    import urllib.error
    import urllib.request
    from urllib.parse import quote

    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{owner.url}/?query={quote(f'DROP TABLE {table}')}", timeout=10)
    assert caught.value.headers["X-ClickHouse-Exception-Code"] == "164"
    assert client.command(f"EXISTS TABLE {table}") == 1


@pytest.mark.parametrize("rows", [1, 5_000, 300_000])
def test_an_insert_of_any_size_is_written_whole_and_counted(client: Client, table: str, rows: int) -> None:
    columns = [["k" * 60] * rows, list(range(rows))]
    summary = client.insert(table, columns, column_names=["k", "v"], column_oriented=True)
    assert summary.written_rows == rows
    assert client.query(f"SELECT count(), sum(v) FROM {table}").result_rows == [
        (rows, rows * (rows - 1) // 2)
    ]


@pytest.mark.parametrize("rows", [10, 20_000])
def test_data_after_values_is_data_at_any_size(client: Client, table: str, rows: int) -> None:
    text = ", ".join(f"('key; {i}', {i})" for i in range(rows))
    client.command(f"INSERT INTO {table} (k, v) VALUES {text}")
    assert client.query(f"SELECT count(), uniqExact(k) FROM {table}").result_rows == [(rows, rows)]


@pytest.mark.parametrize(
    ("format_", "data"),
    [
        ("JSONEachRow", '{"k": "a"}\n\nDROP TABLE %s;\n{"k": "b"}'),
        ("CSV", '"a\n\nDROP TABLE %s",1\n"b",2\n'),
        ("Values", "('a\n\nDROP TABLE %s;', 1),\n\n('b', 2)"),
    ],
)
def test_data_is_never_run(client: Client, table: str, format_: str, data: str) -> None:
    with contextlib.suppress(DatabaseError):  # some of it is not of its format
        client.raw_insert(table, ["k", "v"], data.replace("%s", table), fmt=format_)
    assert client.command(f"EXISTS TABLE {table}") == 1
    if format_ != "JSONEachRow":
        assert client.command(f"SELECT count() FROM {table}") == 2


def test_parameters_reach_the_values_of_an_insert(client: Client, table: str) -> None:
    value = "it's \\ a\ttab\n"
    sql = f"INSERT INTO {table} (k, v) VALUES ({{k:String}}, {{v:UInt64}}), ('other', 2)"
    client.command(sql, parameters={"k": value, "v": 1})
    assert client.query(f"SELECT k FROM {table} WHERE v = 1").result_rows == [(value,)]
    with pytest.raises(DatabaseError, match="Substitution"):
        client.command(f"INSERT INTO {table} (k, v) VALUES ({{k:String}}, {{v:UInt64}})")


@pytest.mark.parametrize("compression", ["gzip", "zstd", "lz4"])
def test_a_file_is_inserted_as_it_is_packed(client: Client, table: str, compression: str) -> None:
    pack = {"gzip": gzip.compress, "zstd": zstd.compress, "lz4": lz4.frame.compress}[compression]
    data = pack(b"".join(b"key\t%d\n" % i for i in range(100_000)))
    client.raw_insert(table, ["k", "v"], data, fmt="TabSeparated", compression=compression)
    assert client.query(f"SELECT count(), max(v) FROM {table}").result_rows == [(100_000, 99_999)]


@pytest.mark.parametrize("rows", [3, 200_000])
def test_a_token_makes_a_repeated_insert_count_once(client: Client, table: str, rows: int) -> None:
    for _ in range(3):
        client.insert(
            table, [["k" * 20] * rows, list(range(rows))], column_names=["k", "v"], column_oriented=True,
            settings={"insert_deduplication_token": "batch 1"},
        )  # fmt: skip
    assert client.command(f"SELECT count() FROM {table}") == rows


def test_a_cut_off_insert_writes_nothing(client: Client, table: str) -> None:
    data = client.raw_query("SELECT repeat('x', 100) AS k, number AS v FROM numbers(50000)", fmt="Native")
    with pytest.raises(DatabaseError):
        client.raw_insert(table, ["k", "v"], data[:-7], fmt="Native")
    assert client.command(f"SELECT count() FROM {table}") == 0


@pytest.mark.parametrize("rows", [1, 200_000])
def test_an_insert_that_fails_after_its_last_row_is_an_error(client: Client, table: str, rows: int) -> None:
    client.command(f"ALTER TABLE {table} ADD CONSTRAINT no_seven CHECK v != 7")
    with pytest.raises(DatabaseError, match="VIOLATED_CONSTRAINT"):
        client.insert(table, [["k", 7]] * rows, column_names=["k", "v"])
    assert client.command(f"SELECT count() FROM {table}") == 0


def test_an_insert_says_its_settings_itself(client: Client, owner: ServerProcess, table: str) -> None:
    text = f"INSERT INTO {table} (k, v) SETTINGS input_format_tsv_empty_as_default = 1 FORMAT TSV\nk\t\n"
    client.raw_query(text)
    assert client.query(f"SELECT k, v FROM {table}").result_rows == [("k", 0)]


def test_a_long_list_of_names_is_a_query_like_any_other(client: Client) -> None:
    names = ", ".join(f"'name {i}'" for i in range(50_000))
    sql = f"SELECT count() FROM numbers(60000) WHERE concat('name ', toString(number)) IN ({names})"
    assert client.query(sql, settings={"max_query_size": 10_000_000}).result_rows == [(50_000,)]
    with pytest.raises(DatabaseError, match="Max query size exceeded"):
        client.query(sql)


def test_many_threads_read_and_write_at_once(owner: ServerProcess, table: str) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            client = connect(owner)
            for i in range(20):
                client.insert(table, [[f"{number}", i]], column_names=["k", "v"])
                count = client.query(
                    f"SELECT count() FROM {table} WHERE k = {{k:String}}", {"k": f"{number}"}
                )
                assert count.result_rows == [(i + 1,)]
            client.close()
        except BaseException as error:  # any kind fails the test, in its own thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
