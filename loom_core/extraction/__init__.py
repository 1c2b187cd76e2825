"""Text in, entities and relations out: local rules and spaCy, or a language model through litellm.

Importing this package loads neither spaCy nor litellm; the first text does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loom_core.extraction.build import ExtractionFailed, build_extractor, extract, llm_config
    from loom_core.extraction.llm.asking import Budget
    from loom_core.extraction.llm.cache import AnswerCache, answer_key
    from loom_core.extraction.llm.client import LLMConfig
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
    **dict.fromkeys(("ExtractionFailed", "build_extractor", "extract", "llm_config"), "build"),
    **dict.fromkeys(("AnswerCache", "answer_key"), "llm.cache"),
    "Budget": "llm.asking",
    "LLMConfig": "llm.client",
    **dict.fromkeys(
        ("Extracted", "Extractor", "OntologyHints", "Outcome", "Permanent", "Retry", "Source"), "outcomes"
    ),
    **dict.fromkeys(("Entity", "Extraction", "Fact", "Relation"), "results"),
}

__all__ = [
    "AnswerCache",
    "Budget",
    "Entity",
    "Extracted",
    "Extraction",
    "ExtractionFailed",
    "Extractor",
    "Fact",
    "LLMConfig",
    "OntologyHints",
    "Outcome",
    "Permanent",
    "Relation",
    "Retry",
    "Source",
    "answer_key",
    "build_extractor",
    "extract",
    "llm_config",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
