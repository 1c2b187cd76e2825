"""Content codings, both ways, in pieces of any size."""

import gzip
import io
import zlib

import lz4.frame
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from loom_core.embedded.coding import decoded, encoder_for
from loom_core.embedded.http_request import BadRequest, drain

PACK = {"gzip": gzip.compress, "deflate": zlib.compress, "zstd": zstd.compress, "lz4": lz4.frame.compress}
UNPACK = {
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
    "zstd": zstd.decompress,
    "lz4": lz4.frame.decompress,
}


class Bytes:
    """A body that comes in the pieces the network makes."""

    def __init__(self, data: bytes, piece: int = 1 << 20) -> None:
        self._source = io.BytesIO(data)
        self._piece = piece

    def read(self, limit: int) -> bytes:
        return self._source.read(min(limit, self._piece))


@given(st.sampled_from(sorted(PACK)), st.binary(max_size=3000), st.integers(1, 50), st.integers(1, 500))
def test_a_coded_body_reads_as_the_plain_one(coding: str, data: bytes, piece: int, limit: int) -> None:
    body = decoded(Bytes(PACK[coding](data), piece), coding)
    parts = list(iter(lambda: body.read(limit), b""))
    assert b"".join(parts) == data


@pytest.mark.parametrize("coding", sorted(PACK))
def test_a_small_body_that_unpacks_to_a_large_one_is_read_in_parts(coding: str) -> None:
    body = decoded(Bytes(PACK[coding](bytes(20_000_000))), coding)
    sizes = [len(part) for part in iter(lambda: body.read(1 << 16), b"")]
    assert sum(sizes) == 20_000_000
    assert max(sizes) <= 1 << 16


@pytest.mark.parametrize("coding", sorted(PACK))
def test_a_coded_body_cut_short_or_wrong_is_refused(coding: str) -> None:
    packed = PACK[coding](b"some text " * 100)
    for wrong in (packed[:-5], b"no such coding at all"):
        body = decoded(Bytes(wrong), coding)
        with pytest.raises(BadRequest):
            drain(body)


def test_an_unknown_coding_is_refused() -> None:
    with pytest.raises(BadRequest, match="br"):
        decoded(Bytes(b""), "br")


@pytest.mark.parametrize(
    ("accepted", "name"),
    [("gzip, deflate", "gzip"), ("br;q=1.0, zstd", "zstd"), ("LZ4", "lz4"), ("br", None), ("", None)],
)
def test_the_first_coding_that_both_know_is_taken(accepted: str, name: str | None) -> None:
    found = encoder_for(accepted)
    assert (found[0] if found else None) == name


@given(st.sampled_from(sorted(PACK)), st.lists(st.binary(max_size=500), max_size=6))
def test_an_answer_packed_in_pieces_unpacks_whole(coding: str, pieces: list[bytes]) -> None:
    found = encoder_for(coding)
    assert found is not None
    packed = b"".join(found[1].compress(piece) for piece in pieces) + found[1].flush()
    assert UNPACK[coding](packed) == b"".join(pieces)
