"""Content codings of requests and answers: gzip, deflate, zstd, lz4, as ClickHouse clients use them."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Protocol

import lz4.frame  # type: ignore[import-untyped]
from backports import zstd

from loom_core.embedded.http_request import BadRequest, Body


class Encoder(Protocol):
    """Compresses a stream piece by piece."""

    def compress(self, data: bytes) -> bytes:
        """The next piece; may be empty while the encoder holds bytes back."""

    def flush(self) -> bytes:
        """What is left, and the end of the stream."""


class _Lz4Encoder:
    def __init__(self) -> None:
        self._frame = lz4.frame.LZ4FrameCompressor()
        self._head: bytes = self._frame.begin()

    def compress(self, data: bytes) -> bytes:
        head, self._head = self._head, b""
        return head + bytes(self._frame.compress(data))

    def flush(self) -> bytes:
        head, self._head = self._head, b""
        return head + bytes(self._frame.flush())


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _ZlibDecoder:
    """zlib keeps what it was not allowed to put out in a separate place; here it is fed back by itself."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=47)  # 32 + 15: gzip or zlib, told by the header

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)


_ENCODERS: dict[str, Callable[[], Encoder]] = {
    "lz4": _Lz4Encoder,
    "zstd": lambda: zstd.ZstdCompressor(level=1),
    "gzip": lambda: zlib.compressobj(1, wbits=31),
    "deflate": lambda: zlib.compressobj(1),
}
_DECODERS: dict[str, Callable[[], _Decoder]] = {
    "lz4": lz4.frame.LZ4FrameDecompressor,
    "zstd": zstd.ZstdDecompressor,
    "gzip": _ZlibDecoder,
    "deflate": _ZlibDecoder,
}


def encoder_for(accepted: str) -> tuple[str, Encoder] | None:
    """The first coding of an Accept-Encoding header that we have, or None."""
    for offer in accepted.split(","):
        name = offer.partition(";")[0].strip().lower()
        if name in _ENCODERS:
            return name, _ENCODERS[name]()
    return None


class DecodedBody:
    """A request's body with its Content-Encoding undone, never more than a read's limit at once."""

    def __init__(self, body: Body, coding: str) -> None:
        self._body = body
        self._coding = coding
        self._decoder: _Decoder | None = None
        self._may_hold_more = False

    def read(self, limit: int) -> bytes:
        while True:
            data = b"" if self._may_hold_more else self._body.read(limit)
            if not data and not self._may_hold_more:
                if self._decoder is not None and not self._decoder.eof:
                    raise BadRequest(f"the {self._coding} body ended too early")
                return b""
            if self._decoder is None:
                self._decoder = _DECODERS[self._coding]()
            try:
                plain = self._decoder.decompress(data, limit)
            except (zlib.error, zstd.ZstdError, RuntimeError, EOFError) as error:
                raise BadRequest(f"the body is not {self._coding}: {error}") from None
            self._may_hold_more = len(plain) >= limit and not self._decoder.eof
            if plain:
                return plain


def decoded(body: Body, coding: str) -> Body:
    """`body` with `coding` (a Content-Encoding header) undone. Raises `BadRequest` for an unknown one."""
    name = coding.strip().lower()
    if name in ("", "identity"):
        return body
    if name not in _DECODERS:
        raise BadRequest(f"Content-Encoding {name} is not supported")
    return DecodedBody(body, name)
