"""Text in, entities and relations out: local rules and spaCy, or a language model through litellm.

Importing this package loads neither spaCy nor litellm; the first text does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loom_core.extraction.build import build_extractor, extract
    from loom_core.extraction.outcomes import (
        Extracted,
        Extractor,
        OntologyHints,
        Outcome,
        Permanent,
        Retry,
        Source,
    )
    from loom_core.extraction.results import Entity, Extraction, Fact, Relation

_HOME = {
    "build_extractor": "build",
    "extract": "build",
    **dict.fromkeys(
        ("Extracted", "Extractor", "OntologyHints", "Outcome", "Permanent", "Retry", "Source"), "outcomes"
    ),
    **dict.fromkeys(("Entity", "Extraction", "Fact", "Relation"), "results"),
}

__all__ = [
    "Entity",
    "Extracted",
    "Extraction",
    "Extractor",
    "Fact",
    "OntologyHints",
    "Outcome",
    "Permanent",
    "Relation",
    "Retry",
    "Source",
    "build_extractor",
    "extract",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
