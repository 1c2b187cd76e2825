"""The statements under `queries/`, in blocks headed `-- name --`, read once."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

HEAD = re.compile(r"^-- (\w+) --$", re.MULTILINE)


@cache
def _blocks(file: str) -> dict[str, str]:
    text = (resources.files("loom_core.storage") / "queries" / f"{file}.sql").read_text(encoding="utf-8")
    parts = HEAD.split(text)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def sql(name: str) -> str:
    """The statement `file.block`. Raises `KeyError` if there is none."""
    file, block = name.split(".")
    return _blocks(file)[block]
