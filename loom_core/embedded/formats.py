"""Which answer formats can be sent block by block, and how Arrow streams are joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

CONTENT_TYPES = {
    "TabSeparated": "text/tab-separated-values; charset=UTF-8",
    "CSV": "text/csv; charset=UTF-8",
    "JSON": "application/json; charset=UTF-8",
    "JSONCompact": "application/json; charset=UTF-8",
    "JSONEachRow": "application/x-ndjson; charset=UTF-8",
}
ARROW_STREAM = "ArrowStream"
# Rows or blocks in a row, no header, no footer: what the engine gives per block can be joined as it is.
_FRAMELESS = {
    "Native",
    "RowBinary",
    "TabSeparated",
    "TSV",
    "TabSeparatedRaw",
    "TSVRaw",
    "CSV",
    "JSONEachRow",
    "JSONCompactEachRow",
    "LineAsString",
}
_CONTINUATION = b"\xff\xff\xff\xff"
_ARROW_END = _CONTINUATION + b"\0\0\0\0"


def joins(output_format: str) -> bool:
    """True where an answer in this format can be streamed; otherwise the engine must make it whole."""
    return output_format in _FRAMELESS or output_format == ARROW_STREAM


def join_arrow(streams: Iterable[bytes]) -> Iterator[bytes]:
    """One Arrow IPC stream out of several with the same schema: the schema first, one end of stream last.

    A message is a continuation mark, the length of its metadata (little-endian, 4 bytes), the metadata, and a
    body; a schema's body is empty. (Arrow columnar format, "Encapsulated message format".)
    """
    first = True
    for stream in streams:
        start = 0
        if not first:
            start = 8 + int.from_bytes(stream[4:8], "little")
        first = False
        end = len(stream) - len(_ARROW_END) if stream.endswith(_ARROW_END) else len(stream)
        yield stream[start:end]
    if not first:
        yield _ARROW_END
