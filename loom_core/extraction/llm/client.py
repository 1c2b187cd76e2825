"""One call to a language model: the only module that imports litellm.

The import takes 3 s and 200 MiB and would otherwise call out and start a thread, hence the two variables set
before it. litellm's own retries stay off: it makes five tries of two and retries a wrong key; the fleet
decides.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from loom_core.extraction.llm.failures import classify
from loom_core.extraction.outcomes import Permanent, Retry

MAX_TOKENS_OUT = 2048
USUAL_TOKENS_OUT = 400
"""A usual answer, for pacing before the real count is known."""


@dataclass(frozen=True, slots=True)
class LLMConfig:
    """Which model, where, and how fast. Models are litellm ids (`openai/gpt-4o-mini`); 0 means no limit."""

    model: str
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    fallback_models: tuple[str, ...] = ()
    timeout_s: float = 60.0
    concurrency: int = 16
    rpm: int = 0
    tpm: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer as it came. `cost_usd` is None where the model's price is unknown."""

    model: str
    content: str | None
    finish_reason: str | None
    tokens_in: int
    tokens_out: int
    cost_usd: float | None


class CallFailed(Exception):
    """No model answered. `outcome` says what that means for the text."""

    def __init__(self, outcome: Retry | Permanent) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome


class LLMClient:
    """Asks the model, then each fallback model in order; safe to share between threads."""

    def __init__(self, config: LLMConfig) -> None:
        self._config = config

    def complete(self, messages: list[dict[str, str]], response_format: Mapping[str, Any]) -> Completion:
        """The first answer any of the models gives.

        Raises CallFailed with the first failure that may pass, else the first; ContextOverflow where the text
        is too long.
        """
        failures: list[Retry | Permanent] = []
        for model in (self._config.model, *self._config.fallback_models):
            try:
                return self._ask(model, messages, response_format)
            except CallFailed as failed:
                failures.append(failed.outcome)
        raise CallFailed(next((f for f in failures if isinstance(f, Retry)), failures[0]))

    def _ask(
        self, model: str, messages: list[dict[str, str]], response_format: Mapping[str, Any]
    ) -> Completion:
        litellm = _litellm()
        try:
            response = litellm.completion(
                model=model,
                messages=messages,
                response_format=dict(response_format),
                temperature=0,
                max_tokens=MAX_TOKENS_OUT,
                timeout=self._config.timeout_s,
                max_retries=0,
                drop_params=True,
                api_base=self._config.api_base,
                api_key=self._key(),
            )
        except Exception as error:
            headers = getattr(error, "litellm_response_headers", None)
            raise CallFailed(classify(error, headers)) from error
        choice = response.choices[0] if response.choices else None
        usage = getattr(response, "usage", None)
        return Completion(
            model=model,
            content=choice.message.content if choice else None,
            finish_reason=choice.finish_reason if choice else None,
            tokens_in=getattr(usage, "prompt_tokens", 0) or 0,
            tokens_out=getattr(usage, "completion_tokens", 0) or 0,
            cost_usd=_cost(response),
        )

    def _key(self) -> str | None:
        """A server of one's own often asks no key, but the OpenAI client refuses to go without."""
        own_server = self._config.api_base is not None and "OPENAI_API_KEY" not in os.environ
        return self._config.api_key or ("none" if own_server else None)


@cache
def _litellm() -> Any:
    os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    # It logs two lines a call at INFO, through a handler of its own and through ours.
    logging.getLogger("LiteLLM").setLevel(logging.WARNING)
    return litellm


def _cost(response: Any) -> float | None:
    """What litellm worked out while it answered; None for a model it has no price of."""
    cost = response._hidden_params.get("response_cost")
    return None if cost is None else float(cost)
