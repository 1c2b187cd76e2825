"""What a SQL text is, read off its tokens: which part is data, which format it asks for.

chDB takes one text for all, ends an INSERT's data at a blank line, and runs every statement it finds. So the
text is read here first, as a server would.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORDS = rb"format|values|select|insert|with|infile|settings"
# Whatever can hide a word comes first: comments, strings, quoted names, heredocs.
_TOKEN = re.compile(
    rb"--[^\n]*|\#[ !][^\n]*|/\*.*?\*/"
    rb"|'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`(?:[^`\\]|\\.|``)*`"
    rb"|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$"
    rb"|(?P<open>\()|(?P<close>\))|(?P<end>;)"
    rb"|(?<![\w.@])(?P<word>" + _WORDS + rb")(?!\w)",
    re.IGNORECASE | re.DOTALL,
)
_LEADING = re.compile(rb"(?:\s+|--[^\n]*(?:\n|$)|\#[ !][^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
_KEYWORD = re.compile(rb"[\s(]*(\w+)(?:\s+(\w+))?")
_FORMAT_NAME = re.compile(rb"\s+(\w+)")
# What may follow the FORMAT clause of a query; anything else makes `format` a column or an alias.
_AFTER_FORMAT = re.compile(rb"\s*(?:$|;|--|\#|/\*|settings\b)", re.IGNORECASE)
_SETTINGS = re.compile(rb"\s+\w+\s*=")
# ClickHouse takes one optional semicolon, blanks and one line end between an INSERT's head and its data.
_BEFORE_DATA = re.compile(rb"[ \t\f]*;?[ \t\f]*\r?\n?")

_LOST_WITHOUT_SESSION = {(b"SET", None), (b"USE", None), (b"CREATE", b"TEMPORARY")}
_READS = {b"SELECT", b"WITH"}


class MalformedStatement(ValueError):
    """The text is not one statement; the message says why."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL statement. `data_at` is the offset of an INSERT's data, None where it has none inline.

    `format` is the format the text names, for its answer or for its data. Of an INSERT with data, `head` is the
    text before its SETTINGS and FORMAT clauses, `settings` the SETTINGS clause.
    """

    keyword: str
    is_read: bool
    needs_session: bool
    format: str | None = None
    head: bytes = b""
    settings: bytes = b""
    data_at: int | None = None


def parse(text: bytes) -> Statement:
    """Classify `text`, which may go on with an INSERT's data.

    Raises `MalformedStatement` for an empty text and for more than one statement.
    """
    start = _LEADING.match(text).end()  # type: ignore[union-attr]  # matches the empty string at least
    first = _KEYWORD.match(text, start)
    if first is None:
        raise MalformedStatement("Empty query")
    keyword = first[1].upper()
    second = first[2].upper() if first[2] else None
    needs_session = (keyword, None) in _LOST_WITHOUT_SESSION or (keyword, second) in _LOST_WITHOUT_SESSION
    has_select = False
    named: str | None = None
    settings_at: int | None = None
    depth = 0
    for token in _TOKEN.finditer(text, start):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif kind == "end":
            if _LEADING.match(text, token.end()).end() != len(text):  # type: ignore[union-attr]
                raise MalformedStatement("Multi-statements are not allowed")
        elif kind == "word" and depth == 0:
            word = token["word"].lower()
            if word == b"format":
                name = _FORMAT_NAME.match(text, token.end())
                if name is None:
                    continue
                if keyword == b"INSERT" and not has_select:
                    clauses = (start, settings_at or token.start(), token.start())
                    return _insert(text, clauses, name[1].decode(), name.end())
                if _AFTER_FORMAT.match(text, name.end()):
                    named = name[1].decode()
            elif word == b"values" and keyword == b"INSERT" and not has_select:
                clauses = (start, settings_at or token.start(), token.start())
                return _insert(text, clauses, "Values", token.end())
            elif word == b"settings" and _SETTINGS.match(text, token.end()):
                settings_at = token.start()
            elif word in (b"select", b"with", b"infile"):
                has_select = True
            elif word == b"insert" and keyword == b"WITH":
                keyword = b"INSERT"
                has_select = True
    return Statement(keyword.decode(), keyword in _READS, needs_session, named)


def _insert(text: bytes, clauses: tuple[int, int, int], data_format: str, named_end: int) -> Statement:
    """`clauses`: where the statement, its SETTINGS clause and its FORMAT clause begin."""
    start, settings_at, format_at = clauses
    data_at = _BEFORE_DATA.match(text, named_end).end()  # type: ignore[union-attr]
    head, settings = text[start:settings_at], text[settings_at:format_at]
    return Statement("INSERT", False, False, data_format, head, settings, data_at)
