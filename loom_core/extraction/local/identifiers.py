"""Names that are not words: commits, errors, calls, variables, paths, versions. Found by rule, before any
model.

The tokenizer keeps each whole, so the parser sees one noun where there is one name.
"""

from __future__ import annotations

import re

from loom_core.canonical import NAME_LIMIT

# Order decides: the first kind that matches the whole token names its type.
_KINDS: tuple[tuple[str, str], ...] = (
    ("commit", r"commit:[0-9a-fA-F]{4,64}"),
    ("error", r"error:[^\s`'\"()\[\]{}<>,;]*\w"),
    ("error", r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Fault)"),
    ("call", r"[A-Za-z_][\w.]*\([^\s()]*\)"),
    ("package", r"[a-z][\w.-]*\[[\w,.-]+\]"),
    ("variable", r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"),
    ("option", r"--[a-z][\w-]+"),
    ("path", r"(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]*[\w]"),
    ("path", r"(?:[\w.@+-]+/)+[\w@+-][\w@+.-]*\.[A-Za-z]\w{0,9}"),
    ("path", r"(?:[\w@+-]+/){2,}[\w@+.-]*\w"),
    (
        "file",
        r"[\w-][\w.-]*\.(?:py|pyx|rst|md|txt|toml|ya?ml|json|cfg|ini|js|ts|tsx|go|rs|java|c|h|cpp|sh|sql|html|css|lock|xml|csv)",
    ),
    ("name", r"_{0,2}[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_{0,2}|__[A-Za-z]\w*__"),
    ("name", r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+"),
    ("name", r"[A-Za-z0-9]*[a-z][A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z]\w*[A-Z]\w*"),
    ("version", r"v?\d+(?:\.\d+){1,3}(?:[-.]?(?:a|b|rc|alpha|beta|dev|post)\.?\d*)?"),
)
_COMPILED = tuple((kind, re.compile(pattern)) for kind, pattern in _KINDS)

_TOKEN = re.compile("|".join(f"(?:{pattern})" for _, pattern in _KINDS))


def is_identifier(token: str) -> bool:
    """Whether the tokenizer is to keep the token whole. Longer than a name may be, it is none."""
    return len(token) <= NAME_LIMIT and _TOKEN.fullmatch(token) is not None


def kind_of(token: str) -> str | None:
    """The kind of identifier a token is, or None for a word."""
    if not is_identifier(token):
        return None
    return next(kind for kind, pattern in _COMPILED if pattern.fullmatch(token))
