"""Takes quotes, markup and outer punctuation off a name, and only what is no part of it.

`c++`, `.gitignore`, `#general`, `$aapl`, `--verbose` and `parse_config()` keep their marks: two
different names never merge because of punctuation (D18).
"""

import re

_LINK = re.compile(r"!?\[([^\[\]]+)\]\([^()\s]*\)")
_WIKI_LINK = re.compile(r"\[\[([^\[\]]+)\]\]")
_SPAN = re.compile(r"(?<![`*])(`+|\*\*)(?=[^\s`*])([^`*]*[^`*\s])\1(?![`*])")
_BULLET = re.compile(r"(?:[-–—•*>+]+|#+)\s+(?:\[[ x]?\]\s+)?(?=\S)|-(?=[^\W\d_]+(?:-[^\W\d_]+)*\s)")
_LEADING = re.compile(r"(?:[,;:!?|\"'`¡¿]|\.+(?![\w./~\\])|\.{3,})+")
_TRAILING = re.compile(r"[\s,;:!?|.\"'`–—-]+$")
_EMPHASIS = re.compile(r"(\*{1,3}|~~|_{1,3})(?=\S)(.*\S)\1")
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">", "«": "»", "「": "」", "『": "』", "《": "》", "【": "】"}
_CLOSERS = {closer: opener for opener, closer in _PAIRS.items()}
_OTHER_EDGE = frozenset("。、،؛؟।…•·‹›〈〉〔〕")


def unwrap(text: str) -> str:
    """`text` without links, code spans, wrapping quotes, emphasis, bullets and outer punctuation."""
    text = _LINK.sub(r"\1", text)
    text = _WIKI_LINK.sub(r"\1", text)
    # Blanks take the marks' place: without them error:`timeouts` would turn into an identifier.
    text = _SPAN.sub(r" \2 ", text)
    text = " ".join(text.split())
    previous = None
    while text and text != previous:
        previous = text
        text = _unwrap_once(text)
    return text


def _unwrap_once(text: str) -> str:
    if match := _BULLET.match(text):
        text = text[match.end() :]
    if match := _LEADING.match(text):
        text = text[match.end() :]
    text = _TRAILING.sub("", text).strip()
    if (match := _EMPHASIS.fullmatch(text)) and (text[0] != "_" or " " in text):
        # An underscored word without a blank is an identifier: __init__ is not init.
        text = match[2]
    return _unbracket(text)


def _unbracket(text: str) -> str:
    if not text:
        return text
    first, last = text[0], text[-1]
    if first in _PAIRS and (last == _PAIRS[first] and _closes_last(text) or _PAIRS[first] not in text):
        text = text[1:-1] if last == _PAIRS[first] else text[1:]
    elif last in _CLOSERS and _CLOSERS[last] not in text:
        text = text[:-1]
    elif first in _OTHER_EDGE:
        text = text[1:]
    elif last in _OTHER_EDGE:
        text = text[:-1]
    return text.strip()


def _closes_last(text: str) -> bool:
    """Whether the bracket that opens `text` is closed by its last character."""
    opener, closer, depth = text[0], text[-1], 0
    for at, character in enumerate(text):
        depth += (character == opener) - (character == closer)
        if depth == 0:
            return at == len(text) - 1
    return False
