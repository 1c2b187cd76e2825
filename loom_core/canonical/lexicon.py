"""The checked-in word lists, each read once, on first use."""

from functools import cache
from importlib.resources import files

# Moves when an entry does: stored nodes are then renamed with `loom graph recanonicalise`.
LEXICON_VERSION = "1"


@cache
def nouns() -> dict[str, str]:
    """Maps a plural to its singular; a name that only looks like a plural maps to itself."""
    return {plural: singular if singular != "=" else plural for plural, singular in _rows("nouns.tsv")}


def _rows(name: str) -> list[list[str]]:
    text = (files(__package__) / name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
