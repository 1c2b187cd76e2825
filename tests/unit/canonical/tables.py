"""Reads the tables of names: tab-separated, a header line, `\\uXXXX` for what an editor would not show."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

_ESCAPE = re.compile(r"\\(\\|u[0-9a-f]{4}|U[0-9a-f]{8})")


def rows(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").split("\n")[1:]
    return [[_unescaped(cell) for cell in line.split("\t")] for line in lines if line]


def cases(name: str) -> list[list[str]]:
    """The rows of a case file; skips where a checkout has no cases beside it."""
    told = os.environ.get("LOOM_CASES_DIR")
    folder = Path(told) if told else Path(__file__).resolve().parents[4] / "shared" / "cases"
    if not told and not folder.is_dir():
        pytest.skip("no case files beside this checkout")
    return rows(folder / name)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: "\\" if m[1] == "\\" else chr(int(m[1][1:], 16)), text)
