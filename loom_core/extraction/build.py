"""Makes the extractor that the settings name."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from loom_core.extraction.outcomes import Extracted, Extractor, Source
from loom_core.extraction.results import Extraction

if TYPE_CHECKING:
    from loom_core.extraction.llm.asking import Budget
    from loom_core.extraction.llm.cache import AnswerCache
    from loom_core.extraction.llm.client import LLMConfig
    from loom_core.settings import Settings

DEFAULT_SPACY_MODEL = "en_core_web_sm"


class ExtractionFailed(RuntimeError):
    """`extract` could not read its text; the message says why."""


def build_extractor(
    provider: str,
    *,
    spacy_model: str = DEFAULT_SPACY_MODEL,
    llm: LLMConfig | None = None,
    cache: AnswerCache | None = None,
    budget: Budget | None = None,
) -> Extractor:
    """The extractor of a provider: `spacy`, or `litellm` with the model that `llm` names.

    A model's reading is joined with the local one where spaCy is installed. `cache` keeps a model's answers
    by content; `budget` is asked before each call. Nothing is loaded before the first text.

    Raises ValueError for a provider without an extractor (`fake` has none: its rows stay untagged, D38) and
    for `litellm` without a model.
    """
    if provider == "spacy":
        return _spacy(spacy_model)
    if provider == "litellm":
        if llm is None or not llm.model:
            raise ValueError("provider 'litellm' needs a model: set LOOM_LLM_MODEL")
        from loom_core.extraction.llm.extractor import LLMExtractor

        local = _spacy(spacy_model) if find_spec("spacy") else None
        return LLMExtractor(llm, local=local, cache=cache, budget=budget)
    raise ValueError(f"no extractor for provider {provider!r} (LOOM_LLM_PROVIDER)")


def _spacy(model: str) -> Extractor:
    from loom_core.extraction.local.extractor import SpacyExtractor

    return SpacyExtractor(model)


def llm_config(settings: Settings) -> LLMConfig | None:
    """The model that `LOOM_LLM_*` and `LOOM_ENTITY_EXTRACT_*` name, None where they name none."""
    if not settings.llm_model:
        return None
    from loom_core.extraction.llm.client import LLMConfig

    return LLMConfig(
        model=settings.llm_model,
        api_base=settings.llm_api_base,
        api_key=settings.llm_api_key.get_secret_value() if settings.llm_api_key else None,
        fallback_models=tuple(m.strip() for m in settings.llm_fallback_models.split(",") if m.strip()),
        timeout_s=settings.entity_extract_timeout_s,
        concurrency=settings.entity_extract_concurrency,
        rpm=settings.llm_rpm,
        tpm=settings.llm_tpm,
    )


@lru_cache(maxsize=4)
def _usual(provider: str) -> Extractor:
    from loom_core.settings import get_settings

    settings = get_settings()
    return build_extractor(provider, spacy_model=settings.spacy_model, llm=llm_config(settings))


def extract(text: str, *, provider: str = "spacy", at: datetime | None = None) -> Extraction:
    """Read one text. `at` is the instant that "last week" and its like refer to (naive: UTC).

    `provider` is `spacy`, `litellm` (the model that the settings name) or `fake`, which finds nothing.
    Raises ExtractionFailed for a text that cannot be read, ValueError for a provider without an extractor.
    """
    if provider == "fake":
        return Extraction()
    outcome = next(_usual(provider).extract_many([Source(text, at)]))
    if isinstance(outcome, Extracted):
        return outcome.extraction
    raise ExtractionFailed(f"{outcome.error_class}: {outcome.message}")
