"""Arrow streams that follow each other become one."""

import pytest

from loom_core.embedded.formats import join_arrow, joins

pyarrow = pytest.importorskip("pyarrow")


def stream(*batches: list[int]) -> bytes:
    schema = pyarrow.schema(
        [("n", pyarrow.int64()), ("d", pyarrow.dictionary(pyarrow.int8(), pyarrow.string()))]
    )
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            names = (
                pyarrow.array([f"name {n % 3}" for n in batch])
                .dictionary_encode()
                .cast(schema.field("d").type)
            )
            writer.write_batch(
                pyarrow.record_batch([pyarrow.array(batch, pyarrow.int64()), names], schema=schema)
            )
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("parts", [[[[1, 2]]], [[[1], [2, 3]], [[4]], [[]], [[5, 6]]], [[]]])
def test_joined_streams_read_as_one(parts: list[list[list[int]]]) -> None:
    joined = b"".join(join_arrow(stream(*batches) for batches in parts))
    table = pyarrow.ipc.open_stream(joined).read_all()
    expected = [n for batches in parts for batch in batches for n in batch]
    assert table.column("n").to_pylist() == expected
    assert table.column("d").to_pylist() == [f"name {n % 3}" for n in expected]


def test_nothing_joins_to_nothing() -> None:
    assert b"".join(join_arrow([])) == b""


@pytest.mark.parametrize("format_", ["Arrow", "Parquet", "JSON", "CSVWithNames", "Unknown"])
def test_a_format_with_a_frame_is_not_joined(format_: str) -> None:
    assert not joins(format_)
