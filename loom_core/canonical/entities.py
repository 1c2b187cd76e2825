"""The canonical form of an entity's name."""

import re
from functools import lru_cache

from loom_core.canonical.folding import fold, nfkc
from loom_core.canonical.heads import singularise_head
from loom_core.canonical.markup import unwrap
from loom_core.canonical.words import DETERMINERS, DROPPED, FIRST_PERSON

NAME_LIMIT = 256
"""Characters a name may have: as written, once normalised, and in its canonical form."""

USER = "user"

_CACHED_NAMES = 1 << 15
_PLAIN = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")
_PREFIX = re.compile(r"(commit|error):")
_PROSE = re.compile(r"(commit|error):\s*(?=[\s\"'`*~\[«“])")
_DECADE = re.compile(r"(?<!\S)(\d+)'s(?![^\W_])")
_POSSESSIVE = re.compile(r"(?<=[^\W_])'s(?![^\W_])|(?<=s)'(?=\s|$)")
_INITIALS = re.compile(r"(?:[a-z]\.){2,}|u\.s")
_CONTRACTED = re.compile(r"(?:i|we|you|he|she|it|they|that|there|who|what)'(?:m|s|re|ve|d|ll)")
_EAST_ASIAN = re.compile(
    r"[\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    r"\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)


@lru_cache(maxsize=_CACHED_NAMES)
def canonicalise(text: str) -> str | None:
    """The name under which an entity is stored and looked up, or None where `text` names none.

    Articles and possessives go, the head noun turns singular, the first person is `user`; pronouns,
    interjections, light verbs, names of two characters and of more than NAME_LIMIT are None. Case
    never decides, and the form of a form is itself. Raises nothing, whatever the string.

    Source: the page's "Entities" paragraph; D15 to D18, D22.
    """
    if len(text) > NAME_LIMIT or not text.isascii() and len(nfkc(text)) > NAME_LIMIT:
        return None
    name, previous = fold(text), None
    while name != previous:
        previous = name
        name = _reduce_plain(name) if _PLAIN.fullmatch(name) else fold(_reduce(name))
    if name in FIRST_PERSON:
        return USER
    if name in DROPPED or len(name) > NAME_LIMIT or _is_short(name):
        return None
    return name


def _is_short(name: str) -> bool:
    """Two characters or fewer; one for Chinese, Japanese and Korean, where two are a name (D15)."""
    if len(name) > 2:
        return not any(map(str.isalnum, name))
    return len(name) < 2 or not _EAST_ASIAN.search(name)


def _reduce_plain(name: str) -> str:
    first, blank, rest = name.partition(" ")
    if blank and first in DETERMINERS:
        return rest
    return singularise_head(name)


def _reduce(name: str) -> str:
    if match := _PROSE.match(name):
        # A blank or markup after the colon: the blank stays when the markup goes, or an identifier would appear.
        name = f"{match[1]}: {unwrap(name[match.end() :])}"
    if _INITIALS.fullmatch(name):
        return name.replace(".", "")
    name = unwrap(name)
    name = _POSSESSIVE.sub("", _DECADE.sub(r"\1s", name))
    first, blank, rest = name.partition(" ")
    if blank and first in DETERMINERS:
        return rest
    if _CONTRACTED.fullmatch(name):
        return name.partition("'")[0]
    if (match := _PREFIX.match(name)) and name[match.end() : match.end() + 1] not in ("", " "):
        return name
    return singularise_head(name)
