"""Answers larger than one buffer: streamed, whole, cut off, and never held twice."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, StreamFailureError

from tests.integration.embedded.conftest import connect
from tests.support.servers import ServerProcess, clickhouse_owner, wait_until

TEN_MILLION = "SELECT number, toString(number) AS s FROM numbers(10000000)"
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


@pytest.mark.parametrize(
    "sql", [MANY + " FORMAT Native", MANY + " FORMAT ArrowStream", MANY + " FORMAT Arrow"]
)
def test_a_reader_that_leaves_within_an_answer_harms_nobody(
    owner: ServerProcess, client: Client, sql: str
) -> None:
    for size in (0, 1, 100_000, 3_000_000):
        with socket.create_connection(("127.0.0.1", owner.port)) as peer:
            peer.sendall(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(sql), sql.encode()))
            while size > 0:
                size -= len(peer.recv(min(size, 65536)))
    wait_until(
        lambda: client.command("SELECT count() FROM system.processes") == 1, "all queries have ended", 20
    )
    assert client.query(MANY + " LIMIT 3").row_count == 3


@pytest.mark.parametrize(("format_", "megabytes", "held"), [("Native", 150, 100), ("ArrowStream", 115, 100)])
def test_a_large_answer_is_not_held_at_all(folder: Path, format_: str, megabytes: int, held: int) -> None:
    with clickhouse_owner(folder) as owner:
        client = connect(owner)
        before = peak_mib(owner)
        with client.raw_stream(TEN_MILLION, fmt=format_) as stream:
            size = sum(len(piece) for piece in iter(lambda: stream.read(1 << 20), b""))
        assert size > megabytes * 1_000_000
        assert peak_mib(owner) - before < held


def test_an_answer_that_must_be_made_whole_is_copied_piece_by_piece(folder: Path) -> None:
    with clickhouse_owner(folder) as owner:
        client = connect(owner)
        with client.raw_stream(f"SELECT count() FROM ({TEN_MILLION})") as stream:
            stream.read()
        before = peak_mib(owner)
        engine_alone = engine_peak_mib(TEN_MILLION, "Arrow")
        assert len(client.raw_query(TEN_MILLION, fmt="Arrow")) > 115_000_000
        assert peak_mib(owner) - before < engine_alone + 60


def peak_mib(owner: ServerProcess) -> int:
    return vm_hwm(f"/proc/{owner.process.pid}/status")


def vm_hwm(status: str) -> int:
    return int(Path(status).read_text().partition("VmHWM:")[2].split()[0]) // 1024


def engine_peak_mib(sql: str, format_: str) -> int:
    """What the engine takes to make an answer, in a process of its own."""
    script = (
        "import chdb, sys; from pathlib import Path; c = chdb.connect(':memory:'); "
        "m = lambda: int(Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0]) // 1024; "
        "b = m(); r = c.query(sys.argv[1], sys.argv[2]); print(m() - b)"
    )
    return int(subprocess.check_output([sys.executable, "-c", script, sql, format_], text=True))
