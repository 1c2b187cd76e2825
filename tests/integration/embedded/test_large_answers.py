"""Answers larger than one buffer: streamed, whole, cut off, and never held twice."""

from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, StreamFailureError

from tests.integration.embedded.conftest import connect
from tests.support.servers import ServerProcess

MANY = "SELECT number, toString(number) AS s FROM numbers(2000000)"


@pytest.mark.parametrize("compress", [False, "lz4", "zstd", "gzip"])
def test_a_large_answer_is_complete(owner: ServerProcess, compress: bool | str) -> None:
    client = connect(owner, compress=compress)
    columns = client.query(MANY, column_oriented=True).result_columns
    assert sum(columns[0]) == 2_000_000 * 1_999_999 // 2
    with client.query_row_block_stream(MANY) as stream:
        assert sum(len(block) for block in stream) == 2_000_000
    client.close()


@pytest.mark.parametrize("rows", [0, 1, 2_000_000])
def test_arrow_comes_as_a_table_and_as_a_stream(client: Client, rows: int) -> None:
    pytest.importorskip("pyarrow")
    sql = f"SELECT number, toLowCardinality(toString(number % 7)) AS s FROM numbers({rows})"
    assert client.query_arrow(sql).num_rows == rows
    with client.query_arrow_stream(sql) as stream:
        tables = list(stream)
    assert sum(batch.num_rows for batch in tables) == rows
    assert sum(sum(batch.column("number").to_pylist()) for batch in tables) == rows * (rows - 1) // 2


@pytest.mark.parametrize(
    "format_", ["TabSeparated", "CSV", "JSONEachRow", "RowBinary", "JSONCompact", "Parquet"]
)
def test_a_format_gives_the_same_bytes_streamed_or_whole(client: Client, format_: str) -> None:
    sql = f"SELECT number FROM numbers(300000) ORDER BY number FORMAT {format_}"
    whole = client.raw_query(sql)
    with client.raw_stream(sql) as stream:
        streamed = stream.read()
    if format_ == "JSONCompact":  # it tells how long it took
        whole, streamed = whole.partition(b'"statistics"')[0], streamed.partition(b'"statistics"')[0]
    assert streamed == whole


def test_an_error_within_an_answer_is_never_taken_for_its_end(client: Client) -> None:
    sql = "SELECT throwIf(number = 1900000, 'late') FROM numbers(2000000)"
    with pytest.raises(StreamFailureError, match="late"), client.query_row_block_stream(sql) as stream:
        for _ in stream:
            pass
    with pytest.raises(ClickHouseError, match="late"):  # held back until it is known to be whole
        client.query(sql)
    assert client.command("SELECT 1") == 1


def test_a_large_answer_is_not_held_twice(owner: ServerProcess, client: Client) -> None:
    sql = "SELECT number, toString(number) AS s FROM numbers(10000000)"  # 160 MB

    def peak_mib() -> int:
        status = Path(f"/proc/{owner.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) // 1024

    before = peak_mib()
    with client.raw_stream(sql, fmt="Native") as stream:
        size = sum(len(piece) for piece in iter(lambda: stream.read(1 << 20), b""))
    assert size > 150_000_000
    assert peak_mib() - before < 100
