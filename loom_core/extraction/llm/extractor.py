"""Reads texts with a language model, many calls in flight, and joins what the local extractor found."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from loom_core.extraction.grounding import Ground
from loom_core.extraction.llm.asking import Asker, Budget
from loom_core.extraction.llm.cache import AnswerCache
from loom_core.extraction.llm.client import LLMConfig
from loom_core.extraction.llm.prompt import PROMPT_VERSION
from loom_core.extraction.merge import union
from loom_core.extraction.outcomes import Extracted, Extractor, Outcome, Permanent, Source
from loom_core.extraction.results import Extraction

_AHEAD = 4
"""Texts drawn per call in flight, so that one slow answer at the head of the line does not idle the rest."""


@dataclass(slots=True)
class _Job:
    source: Source
    future: Future[Outcome]
    local: Outcome | None = None


@dataclass(slots=True)
class _Stop:
    """Set once by the first outcome that says the setup is wrong."""

    reason: Permanent | None = None


class LLMExtractor:
    """A model's reading joined with the local one's; each relation names the extractor that found it."""

    def __init__(
        self,
        config: LLMConfig,
        *,
        local: Extractor | None = None,
        cache: AnswerCache | None = None,
        budget: Budget | None = None,
    ) -> None:
        self._concurrency = config.concurrency
        self._asker = Asker(config, cache, budget)
        self._local = local
        self.id = config.model
        self.prompt_version = PROMPT_VERSION + (f"+{local.prompt_version}" if local else "")

    def extract_many(self, texts: Iterable[Source]) -> Iterator[Outcome]:
        """One outcome per text, in order, with `concurrency` calls in flight.

        After an outcome that stops all, no call is started and every further text gets that outcome.
        """
        stop = _Stop()
        waiting: deque[_Job] = deque()
        pool = ThreadPoolExecutor(self._concurrency, thread_name_prefix="loom-llm")
        try:
            for text in texts:
                waiting.append(_Job(text, pool.submit(self._ask, text, stop)))
                if len(waiting) >= _AHEAD * self._concurrency:
                    yield self._joined(waiting)
            while waiting:
                yield self._joined(waiting)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _ask(self, source: Source, stop: _Stop) -> Outcome:
        if stop.reason is not None:
            return stop.reason
        outcome = self._asker.read(source)
        if isinstance(outcome, Permanent) and outcome.stops_all:
            stop.reason = outcome
        return outcome

    def _joined(self, waiting: deque[_Job]) -> Outcome:
        if self._local is not None and waiting[0].local is None:
            unread = [job for job in waiting if job.local is None]
            for job, outcome in zip(
                unread, self._local.extract_many([job.source for job in unread]), strict=True
            ):
                job.local = outcome
        job = waiting.popleft()
        outcome = job.future.result()
        if not isinstance(outcome, Extracted):
            return outcome
        extraction = outcome.extraction.credited_to(self.id)
        if isinstance(job.local, Extracted):
            extraction = union(extraction, job.local.extraction)
        return replace(outcome, extraction=_in_text_order(extraction, job.source))


def _in_text_order(extraction: Extraction, source: Source) -> Extraction:
    """Pairs are cut in the order the entities were stated (D19), whoever of the two found them."""
    ground = Ground(source.text, source.role)
    return replace(
        extraction, entities=tuple(sorted(extraction.entities, key=lambda e: ground.position(e.name)))
    )
