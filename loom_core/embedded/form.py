"""The fields of a form. Clients send parameters in one that would make a URL too long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from loom_core.embedded.http_request import BadRequest, Body
from loom_core.embedded.query_text import TEXT_LIMIT, read_over, refusal

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks


def read_form(content_type: str, body: Body) -> dict[str, str]:
    """The text fields, by name.

    Raises `StatementError` for an attached table, `BadRequest` for what is no form.
    """
    raw, ended = read_over(body, TEXT_LIMIT)
    if not ended:
        raise BadRequest(f"a form is over {TEXT_LIMIT >> 20} MiB")
    _, options = parse_options_header(content_type)
    parts = _Parts()
    try:
        parser = MultipartParser(options.get(b"boundary", b""), parts.callbacks())
        parser.write(raw)
        parser.finalize()
    except FormParserError as error:
        raise BadRequest(f"the form is malformed: {error}") from None
    if not parts.ended:
        raise BadRequest("the form is cut short")
    return parts.fields


class _Parts:
    """What the parser finds, a part after the other."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}
        self.ended = False
        self._header = self._value = b""
        self._options: dict[bytes, bytes] = {}
        self._data: list[bytes] = []

    def callbacks(self) -> MultipartCallbacks:
        return {
            "on_header_field": self._on_header_field,
            "on_header_value": self._on_header_value,
            "on_header_end": self._on_header_end,
            "on_part_data": self._on_data,
            "on_part_end": self._on_part_end,
            "on_end": self._on_end,
        }

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            _, self._options = parse_options_header(self._value)
        self._header = self._value = b""

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        self._data.append(data[start:end])

    def _on_end(self) -> None:
        self.ended = True

    def _on_part_end(self) -> None:
        if b"name" not in self._options:
            raise BadRequest("a form field has no name")
        if b"filename" in self._options:
            raise refusal("external data is not supported")
        name = self._options[b"name"].decode("utf-8", "surrogateescape")
        self.fields[name] = b"".join(self._data).decode("utf-8", "surrogateescape")
        self._options, self._data = {}, []
