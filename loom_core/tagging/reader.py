"""The extractor that the settings name, made once a process, with its budget and its cache of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import redis
import structlog

from loom_core.extraction.build import build_extractor
from loom_core.extraction.llm.asking import Budget
from loom_core.extraction.llm.client import LLMConfig
from loom_core.extraction.outcomes import Extractor
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tagging.spending import DailyBudget

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Reader:
    """An extractor and the budget it spends from."""

    extractor: Extractor
    budget: DailyBudget


def build_reader(settings: Settings, store: Store, client: redis.Redis) -> Reader:
    """The reader of these settings. `client` returns bytes. Raises what `build_extractor` raises."""
    budget = DailyBudget(store, settings.llm_daily_budget_usd)
    config = LLMConfig(
        model=settings.llm_model or "",
        api_base=settings.llm_api_base,
        api_key=settings.llm_api_key.get_secret_value() if settings.llm_api_key else None,
        fallback_models=tuple(
            filter(None, (name.strip() for name in settings.llm_fallback_models.split(",")))
        ),
        timeout_s=settings.entity_extract_timeout_s,
        concurrency=settings.entity_extract_concurrency,
        rpm=settings.llm_rpm,
        tpm=settings.llm_tpm,
    )
    extractor = build_extractor(
        settings.llm_provider,
        spacy_model=settings.spacy_model,
        llm=config,
        cache=RedisAnswers(client),
        budget=Budget(budget.may_spend, budget.spent),
    )
    return Reader(extractor, budget)


class RedisAnswers:
    """A model's answers in Redis. While it is away none is found and none kept, which costs money only."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def get(self, key: str) -> bytes | None:
        """The bytes under `key`, None where there are none."""
        found = self._or_nothing(lambda: self._client.get(key))
        return found if isinstance(found, bytes) else None

    def set(self, key: str, value: bytes, ttl_s: int) -> None:
        """Keeps `value` for `ttl_s` seconds."""
        self._or_nothing(lambda: self._client.set(key, value, ex=ttl_s))

    def _or_nothing(self, call: Callable[[], object]) -> object:
        try:
            return call()
        except redis.RedisError as error:
            log.debug("answer_cache_away", error_class=type(error).__name__)
            return None
