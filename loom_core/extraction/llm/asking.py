"""One text put to a language model: cache, budget, pace, call, and a split where the text is too long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from loom_core.extraction.llm.answers import Answer, UnusableAnswer, parse_answer
from loom_core.extraction.llm.cache import AnswerCache, CachedAnswers
from loom_core.extraction.llm.client import USUAL_TOKENS_OUT, CallFailed, Completion, LLMClient, LLMConfig
from loom_core.extraction.llm.failures import ContextOverflow
from loom_core.extraction.llm.pacing import Pacer
from loom_core.extraction.llm.prompt import PROMPT_VERSION, messages, response_format
from loom_core.extraction.llm.reading import Reader
from loom_core.extraction.outcomes import Extracted, OntologyHints, Outcome, Permanent, Retry, Source
from loom_core.extraction.recitals import without_recitals
from loom_core.extraction.results import Extraction

_LEAST_CHARS = 200
_CHARS_PER_TOKEN = 4
_QUIET_S = 1.0


@dataclass(frozen=True, slots=True)
class Budget:
    """The operator's ceiling on spending. `may_spend` is asked before each call, `spent` told USD after
    it.
    """

    may_spend: Callable[[], bool]
    spent: Callable[[float], None]


class Asker:
    """Turns a text into an outcome; shared by the calls in flight."""

    def __init__(self, config: LLMConfig, cache: AnswerCache | None, budget: Budget | None) -> None:
        self._config = config
        self._client = LLMClient(config)
        self._cache = CachedAnswers(cache) if cache is not None else None
        self._budget = budget
        self._pacer = Pacer(config.rpm, config.tpm)

    def read(self, source: Source) -> Outcome:
        """The outcome of one text. Whatever goes wrong with it is its own outcome and nobody else's."""
        novel = without_recitals(source)
        if not novel.text.strip():
            return Extracted(Extraction(), self._config.model)
        request = repr((self._config.model, PROMPT_VERSION, source.hints, novel.text))
        try:
            return self._cached(source, novel, request) or self._asked(source, novel, request)
        except CallFailed as failed:
            return failed.outcome
        except UnusableAnswer as unusable:
            return Retry(f"UnusableAnswer:{unusable.reason}", str(unusable))
        except ContextOverflow as overflow:
            return Permanent("ContextOverflow", f"too long for the model even in parts: {overflow}")
        except Exception as error:
            return Retry(type(error).__name__, str(error))

    def _cached(self, source: Source, novel: Source, request: str) -> Outcome | None:
        if self._cache is None or (found := self._cache.find(source.text, request)) is None:
            return None
        return self._outcome(novel, [parse_answer(content) for content in found], [])

    def _asked(self, source: Source, novel: Source, request: str) -> Outcome:
        completions = list(self._complete(novel.text, source.hints))
        answers = [parse_answer(c.content, c.finish_reason) for c in completions]
        if self._cache is not None and all(c.finish_reason == "stop" for c in completions):
            self._cache.keep(source.text, request, [c.content or "" for c in completions])
        return self._outcome(novel, answers, completions)

    def _outcome(self, source: Source, answers: list[Answer], completions: list[Completion]) -> Extracted:
        extraction, skipped = Reader(source).read(answers)
        costs = [c.cost_usd for c in completions]
        return Extracted(
            extraction,
            completions[0].model if completions else self._config.model,
            tokens_in=sum(c.tokens_in for c in completions),
            tokens_out=sum(c.tokens_out for c in completions),
            cost_usd=None if None in costs else sum(c for c in costs if c is not None),
            partly=skipped,
        )

    def _complete(self, text: str, hints: OntologyHints) -> Iterator[Completion]:
        """The model's answers for a text: one, or one for each part of a text that is too long."""
        try:
            yield self._call(text, hints)
        except ContextOverflow:
            if len(text) < 2 * _LEAST_CHARS:
                raise
            middle = _break_near_middle(text)
            yield from self._complete(text[:middle], hints)
            yield from self._complete(text[middle:], hints)

    def _call(self, text: str, hints: OntologyHints) -> Completion:
        if self._budget is not None and not self._budget.may_spend():
            raise CallFailed(
                Retry("BudgetSpent", "the day's budget is spent", _until_tomorrow_s(), counts=False)
            )
        request = messages(text, hints)
        expected = sum(len(m["content"]) for m in request) // _CHARS_PER_TOKEN + USUAL_TOKENS_OUT
        if still := self._pacer.wait(expected, self._config.timeout_s):
            raise CallFailed(Retry("Paced", "requests or tokens a minute are used up", still, counts=False))
        try:
            completion = self._client.complete(request, response_format())
        except CallFailed as failed:
            if isinstance(failed.outcome, Retry) and not failed.outcome.counts:
                self._pacer.quiet(failed.outcome.retry_after_s or _QUIET_S)
            raise
        self._pacer.correct(completion.tokens_in + completion.tokens_out - expected)
        if self._budget is not None and completion.cost_usd is not None:
            self._budget.spent(completion.cost_usd)
        if completion.finish_reason == "content_filter":
            raise CallFailed(Permanent("ContentFilter", "the provider withheld the answer"))
        return completion


def _break_near_middle(text: str) -> int:
    half = len(text) // 2
    for stop in ("\n\n", "\n", ". ", " "):
        at = text.rfind(stop, half // 2, half)
        if at > 0:
            return at + len(stop)
    return half


def _until_tomorrow_s() -> float:
    now = datetime.now(UTC)
    return (now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1) - now).total_seconds()
