"""Word lists, one word a line, kept as data beside the rules that use them."""

from __future__ import annotations

from importlib.resources import files


def word_list(name: str) -> frozenset[str]:
    """The words of `words/<name>.txt`."""
    return frozenset(files(__package__).joinpath(f"words/{name}.txt").read_text("utf-8").split())
