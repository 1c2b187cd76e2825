"""Makes the extractor that the settings name."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from loom_core.extraction import pipeline
from loom_core.extraction.outcomes import Extracted, Extractor, Source
from loom_core.extraction.results import Extraction


def build_extractor(provider: str, *, spacy_model: str = pipeline.DEFAULT_MODEL) -> Extractor:
    """The extractor of a provider: `spacy`. Raises ValueError for a name it does not know."""
    if provider == "spacy":
        from loom_core.extraction.spacy_extractor import SpacyExtractor

        return SpacyExtractor(spacy_model)
    raise ValueError(f"no extractor for provider {provider!r}")


@lru_cache(maxsize=4)
def _extractor(provider: str) -> Extractor:
    return build_extractor(provider)


def extract(text: str, *, provider: str = "spacy", at: datetime | None = None) -> Extraction:
    """Read one text. `at` is the instant that "last week" and its like refer to."""
    outcome = next(_extractor(provider).extract_many([Source(text, at)]))
    if isinstance(outcome, Extracted):
        return outcome.extraction
    raise RuntimeError(f"{outcome.error_class}: {outcome.message}")
