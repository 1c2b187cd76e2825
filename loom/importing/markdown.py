"""A folder of Markdown: each section under a heading a memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from loom.importing.entries import BadInput, Entry, Source

HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
FENCE = re.compile(r"^\s*(```|~~~)")
SKIPPED = {".git", ".venv", "node_modules", "__pycache__", ".loom"}
MAX_SECTION_CHARS = 20_000


def read_markdown(folder: Path) -> Source:
    """Sections of every `*.md` under `folder`, keyed by file and heading. Raises `BadInput` if it is no folder."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder")
    files = [
        path
        for path in sorted(folder.rglob("*.md"))
        if not SKIPPED.intersection(path.relative_to(folder).parts) and path.is_file()
    ]
    return Source(_sections(folder, files), None)


def _sections(folder: Path, files: list[Path]) -> Iterator[Entry]:
    for path in files:
        name = path.relative_to(folder).as_posix()
        seen: dict[str, int] = {}
        for heading, text in _split(path.read_text(encoding="utf-8", errors="replace").replace("\0", " ")):
            seen[heading] = seen.get(heading, 0) + 1
            ordinal = f"~{seen[heading]}" if seen[heading] > 1 else ""
            yield {
                "memory_key": f"{name}#{heading}{ordinal}"[:1000],
                "value": f"{heading}\n\n{text}"[:MAX_SECTION_CHARS] if heading else text[:MAX_SECTION_CHARS],
                "tags": ["markdown"],
            }


def _split(text: str) -> Iterator[tuple[str, str]]:
    """(heading, text under it) of each section that has any text; headings inside code blocks are text."""
    heading, lines, in_code = "", [], False
    for line in text.splitlines():
        if FENCE.match(line):
            in_code = not in_code
        found = None if in_code else HEADING.match(line)
        if found:
            if body := "\n".join(lines).strip():
                yield heading, body
            heading, lines = found[1], []
        else:
            lines.append(line)
    if body := "\n".join(lines).strip():
        yield heading, body
