"""From a memory's text to blocks of prose: what a parser of English should see of Markdown and Git text.

A block is a paragraph, a list item or a heading on one line. Fenced code, trailers, merge lines, tables'
rules and anything that is mostly not letters are left out: they hold no sentences, and their words would
become nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_BLOCK_CHARS = 5_000
_LEAST_LETTERS = 0.5

_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+|^\s{0,3}(?:={3,}|-{3,}|\*{3,}|_{3,})\s*$")
_QUOTE = re.compile(r"^\s*(?:>\s?)+")
_TRAILER = re.compile(
    r"^(?:[A-Z][A-Za-z]*(?:-[A-Za-z]+)*-[Bb]y|Change-Id|git-svn-id|Cc|Link):\s", re.IGNORECASE
)
_MERGE = re.compile(
    r"^Merge (?:pull request|branch(?:es)?|remote-tracking branch|tag|commit)\b.*", re.IGNORECASE
)
_YAML_KEY = re.compile(r"^(?:- )?[a-z][\w-]*:(?:\s|$)")

_COMMIT_TYPE = re.compile(
    r"^(?:feat|fix|chore|docs?|style|refactor|perf|tests?|build|ci|revert|deps)(?:\(([^)\s]{1,60})\))?!?:\s+",
    re.IGNORECASE,
)
_TAG = re.compile(r"^\[([\w.+#/ -]{1,60})\][:\s]+(?=\S)")

_INLINE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"<!--.{0,300}?-->", re.DOTALL), " "),
    (re.compile(r"!\[[^\]]{0,200}\]\([^)]{0,500}\)"), " "),
    (re.compile(r"\[([^\]]{1,200})\]\([^)]{0,500}\)"), r"\1"),
    (re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://[^\s<>)\]]+"), " "),
    (re.compile(r"<[^<>\s@]{1,64}@[^<>\s@]{1,255}>"), " "),
    (re.compile(r"</?[a-zA-Z][^<>]{0,200}>"), " "),
    # `error:` before a code span is prose (the user's page), so the span must not close up to the colon.
    (re.compile(r"(?<=:)`+"), " "),
    # Of a command line its options are no words: a parser makes verbs and names of them.
    (re.compile(r"`([^`\s-][^`]{0,200}?)\s--?[A-Za-z][^`]{0,300}`"), r"\1"),
    (re.compile(r"`+"), ""),
    (re.compile(r"\*\*|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)|~~"), ""),
    (re.compile(r"(?<!\w):[a-z_+-]{2,30}:(?!\w)"), " "),
    (re.compile(r"\((?:[\w.-]{1,40}/[\w.-]{1,100})?#\d{1,9}\)"), " "),
    (re.compile(r"[\x00-\x1f\x7f]"), " "),
)


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph on one line, and the component tags that headed it (`[redis]`, `fix(redis):`)."""

    text: str
    tags: tuple[str, ...] = ()


def blocks(text: str) -> Iterator[Block]:
    """The text's paragraphs in order, at most 5,000 characters each; a longer one is cut between
    sentences.
    """
    # A lone surrogate is no character: spaCy could not store it.
    for paragraph in _paragraphs(text.encode("utf-8", "replace").decode("utf-8")):
        tags, body = _head(paragraph)
        body = " ".join(_plain(body).split())
        if tags or _is_prose(body):
            pieces = list(_cut(body)) if _is_prose(body) else [""]
            yield Block(pieces[0], tags)
            yield from (Block(piece) for piece in pieces[1:])


def _paragraphs(text: str) -> Iterator[str]:
    """Lines joined where a line break is only a wrap."""
    gathered: list[str] = []
    for line in _prose_lines(text):
        content = _HEADING.sub("", _BULLET.sub("", line, count=1), count=1).strip()
        opens = content != line.strip() or not content or "|" in content
        if opens and gathered:
            yield " ".join(gathered)
            gathered = []
        if "|" in content:
            yield from (cell.strip() for cell in content.split("|") if cell.strip())
        elif _HEADING.match(line):
            yield content
        elif content:
            gathered.append(content)
    if gathered:
        yield " ".join(gathered)


def _prose_lines(text: str) -> Iterator[str]:
    """The text's lines, an empty one for each that is fenced code, a trailer, a merge or YAML."""
    fenced = yaml = ruled = False
    for raw in text.splitlines():
        line = _QUOTE.sub("", raw, count=1)
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fenced, bare = not fenced, ""
        yaml = bool(bare) and bare != "..." and (yaml or (ruled and _YAML_KEY.match(bare) is not None))
        ruled = bare == "---"
        hidden = not bare or fenced or yaml or _TRAILER.match(bare) or _MERGE.match(bare)
        yield "" if hidden else line


def _head(paragraph: str) -> tuple[tuple[str, ...], str]:
    """Component tags at the head of a commit's title, and the rest."""
    tags: list[str] = []
    while match := _COMMIT_TYPE.match(paragraph) or _TAG.match(paragraph):
        if match[1]:
            tags.append(match[1])
        paragraph = paragraph[match.end() :]
    return tuple(tags), paragraph


def _plain(paragraph: str) -> str:
    for pattern, replacement in _INLINE:
        paragraph = pattern.sub(replacement, paragraph)
    return paragraph


def _is_prose(text: str) -> bool:
    visible = [c for c in text if not c.isspace()]
    return bool(visible) and sum(map(str.isalpha, visible)) >= _LEAST_LETTERS * len(visible)


def _cut(text: str) -> Iterator[str]:
    while len(text) > MAX_BLOCK_CHARS:
        at = max(text.rfind(stop, 0, MAX_BLOCK_CHARS) for stop in (". ", "! ", "? ", "; "))
        at = at + 1 if at > 0 else text.rfind(" ", 0, MAX_BLOCK_CHARS)
        at = at if at > 0 else MAX_BLOCK_CHARS
        yield text[:at]
        text = text[at:].lstrip()
    if text:
        yield text
