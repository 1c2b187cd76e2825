"""The litellm path against a server that answers as the test says."""

import itertools
import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime

import pytest

from loom_core.extraction import (
    Budget,
    Extracted,
    LLMConfig,
    OntologyHints,
    Permanent,
    Retry,
    Source,
    answer_key,
    build_extractor,
    extract,
)
from loom_core.extraction.llm.extractor import LLMExtractor
from loom_core.settings import get_settings
from tests.support.llm_stub import EMPTY, LLMStub, Reply

TEXT = "The billing service reads invoices from the ledger database. Anna works at Acme since March 2023."
ANSWER = json.dumps(
    {
        "entities": [{"name": "billing service", "type": "service"}, {"name": "Mars", "type": "planet"}],
        "relations": [
            {
                "subject": "Anna",
                "relation": "works_at",
                "object": "Acme",
                "since": "March 2023",
                "until": None,
            },
            {"subject": "Anna", "relation": "likes", "object": "Acme", "since": None, "until": None},
        ],
        "facts": [],
    }
)


def config(stub: LLMStub, **more) -> LLMConfig:
    return LLMConfig("openai/stub", api_base=stub.url, **{"timeout_s": 5.0, "concurrency": 4, **more})


def alone(stub: LLMStub, *, cache=None, budget=None, **more) -> LLMExtractor:
    """The model's reading without the local one's."""
    return LLMExtractor(config(stub, **more), cache=cache, budget=budget)


def one(extractor, source: Source | str):
    (outcome,) = extractor.extract_many([source if isinstance(source, Source) else Source(source)])
    return outcome


@pytest.fixture(scope="module", autouse=True)
def litellm_is_loaded():
    """Its import takes seconds that no test's clock should count."""
    with LLMStub() as stub:
        one(alone(stub), "warm up")


def test_the_models_reading_is_joined_with_the_local_one():
    with LLMStub(default=Reply(ANSWER)) as stub:
        outcome = one(build_extractor("litellm", llm=config(stub)), TEXT)
    assert isinstance(outcome, Extracted)
    assert [e.name for e in outcome.extraction.entities] == [
        "billing service",
        "ledger database",
        "Anna",
        "Acme",
    ]
    read_by = {(r.subject, r.relation, r.object): r.extractor for r in outcome.extraction.relations}
    assert read_by["Anna", "work_at", "Acme"] == "openai/stub"
    assert read_by["billing service", "read_from", "ledger database"] == "spacy/en_core_web_sm"
    sure = {(r.relation): r.confidence for r in outcome.extraction.relations}
    assert sure["work_at"] > sure["like"]
    assert outcome.partly == 1, "Mars is not in the text"
    assert (outcome.model, outcome.cost_usd) == ("openai/stub", None)
    assert outcome.tokens_in > 0 and outcome.tokens_out > 0


def test_the_text_goes_out_in_a_data_block_with_a_schema():
    with LLMStub() as stub:
        one(alone(stub), Source("some text", hints=OntologyHints(("service",), (), ())))
        (body,) = stub.requests
    assert body["messages"][0]["role"] == "system" and "service" in body["messages"][0]["content"]
    assert "\nsome text\n" in body["messages"][1]["content"]
    assert body["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    ("reply", "kind", "counts"),
    [
        (Reply(status=500), "InternalServerError", True),
        (Reply(status=503), "ServiceUnavailableError", False),
        (Reply(status=429), "RateLimitError", False),
        (Reply(""), "UnusableAnswer:empty", True),
        (Reply(None), "UnusableAnswer:empty", True),
        (Reply("I would rather not."), "UnusableAnswer:no_json", True),
    ],
)
def test_what_may_pass_is_tried_again_by_the_fleet_and_not_here(reply, kind, counts):
    with LLMStub(default=reply) as stub:
        outcome = one(alone(stub), TEXT)
        assert len(stub.requests) == 1, "one call an attempt: the fleet's retry is the only one"
    assert isinstance(outcome, Retry)
    assert (outcome.error_class, outcome.counts) == (kind, counts)


def test_an_empty_extraction_is_an_answer():
    with LLMStub(default=Reply('{"entities":[],"relations":[]}')) as stub:
        outcome = one(alone(stub), TEXT)
    assert isinstance(outcome, Extracted) and outcome.extraction.entities == () and outcome.partly == 0


def test_a_blank_text_is_not_sent():
    with LLMStub() as stub:
        outcome = one(alone(stub), " \n ")
        assert stub.requests == []
    assert isinstance(outcome, Extracted)


def test_a_hanging_provider_is_left_after_the_timeout():
    with LLMStub(default=Reply(hang_s=30)) as stub:
        started = time.monotonic()
        outcome = one(alone(stub, timeout_s=0.5), TEXT)
    assert isinstance(outcome, Retry) and outcome.error_class == "Timeout"
    assert time.monotonic() - started < 5


def test_a_provider_that_is_not_there_is_an_outage():
    with LLMStub() as stub:
        gone = stub.url
    outcome = one(LLMExtractor(LLMConfig("openai/stub", api_base=gone, timeout_s=2)), TEXT)
    assert isinstance(outcome, Retry) and outcome.counts is False


def test_rate_limits_are_waited_out_and_every_text_is_read_in_the_end():
    with LLMStub([Reply(status=429, retry_after_s=0.3)] * 5) as stub:
        extractor = alone(stub, concurrency=2)
        due = [Source(f"text {i}") for i in range(12)]
        tries = 0
        while due:
            outcomes = list(extractor.extract_many(due))
            assert all(isinstance(o, Extracted) or not o.counts for o in outcomes)
            assert all(o.retry_after_s == 0.3 for o in outcomes if isinstance(o, Retry))
            due = [source for source, o in zip(due, outcomes, strict=True) if isinstance(o, Retry)]
            tries += 1
        assert tries <= 6
        assert len(stub.requests) == 12 + 5


def test_nothing_is_sent_while_the_provider_said_to_wait():
    with LLMStub([Reply(status=429, retry_after_s=0.5)]) as stub:
        extractor = alone(stub, concurrency=1)
        started = time.monotonic()
        outcomes = list(extractor.extract_many([Source("a"), Source("b")]))
        assert [type(o) for o in outcomes] == [Retry, Extracted]
        assert time.monotonic() - started >= 0.5


def test_a_wait_that_is_too_long_to_sit_out_is_handed_back():
    with LLMStub([Reply(status=429, retry_after_s=600)]) as stub:
        extractor = alone(stub, concurrency=1, timeout_s=1)
        outcomes = list(extractor.extract_many([Source("a"), Source("b")]))
        assert len(stub.requests) == 1
    assert outcomes[1].error_class == "Paced" and outcomes[1].retry_after_s > 500 and not outcomes[1].counts


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=401, message="Incorrect API key provided"),
        Reply(status=404, message="The model `stub` does not exist"),
        Reply(status=429, message="You exceeded your current quota", code="insufficient_quota"),
    ],
    ids=["wrong key", "unknown model", "no credit"],
)
def test_a_wrong_setup_stops_the_batch_at_once_and_says_so(reply):
    with LLMStub(default=reply) as stub:
        outcomes = list(alone(stub, concurrency=2).extract_many(Source(f"text {i}") for i in range(200)))
        assert len(stub.requests) <= 4
    assert len(outcomes) == 200
    assert all(isinstance(o, Permanent) and o.stops_all for o in outcomes)
    assert reply.message in outcomes[0].message


def test_without_a_key_the_batch_stops_and_says_so(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    outcomes = list(LLMExtractor(LLMConfig("openai/gpt-4o-mini")).extract_many([Source("a"), Source("b")]))
    assert all(isinstance(o, Permanent) and o.stops_all for o in outcomes)
    assert "key" in outcomes[0].message


def test_a_model_of_no_provider_stops_the_batch_and_says_so():
    outcome = one(LLMExtractor(LLMConfig("no-such-model")), TEXT)
    assert isinstance(outcome, Permanent) and outcome.stops_all and "no-such-model" in outcome.message


def test_a_bad_text_hurts_no_neighbour_and_order_is_kept():
    def answer(text: str) -> Reply:
        if "poison" in text:
            return Reply(status=400, message="cannot")
        return Reply(
            json.dumps({"entities": [text.split()[-1]], "relations": []}), hang_s=0.05 * (len(text) % 3)
        )

    texts = [f"{'poison' if i % 7 == 3 else 'text'} word{i}" for i in range(40)]
    with LLMStub(default=answer) as stub:
        outcomes = list(alone(stub, concurrency=8).extract_many(map(Source, texts)))
    for i, outcome in enumerate(outcomes):
        if i % 7 == 3:
            assert isinstance(outcome, Permanent) and not outcome.stops_all
        else:
            assert [e.name for e in outcome.extraction.entities] == [f"word{i}"]


def test_as_many_calls_are_in_flight_as_allowed_and_texts_are_drawn_as_needed():
    drawn = 0

    def texts():
        nonlocal drawn
        for i in itertools.count():
            drawn += 1
            yield Source(f"text {i}")

    with LLMStub(latency_s=0.05) as stub:
        outcomes = alone(stub, concurrency=6).extract_many(texts())
        for _ in range(60):
            next(outcomes)
        outcomes.close()
        assert stub.most_in_flight == 6
        assert drawn < 100


def test_a_text_too_long_for_the_model_is_split_and_not_retried():
    def answer(text: str) -> Reply:
        if len(text) > 1000:
            return Reply(
                status=400, message="maximum context length is 10 tokens", code="context_length_exceeded"
            )
        return Reply(
            json.dumps(
                {"entities": sorted({w for w in text.split() if w.startswith("Name")}), "relations": []}
            )
        )

    text = "\n\n".join(f"Name{i} is here." for i in range(300))
    with LLMStub(default=answer) as stub:
        outcome = one(alone(stub), text)
    assert isinstance(outcome, Extracted)
    assert [e.name for e in outcome.extraction.entities] == [f"Name{i}" for i in range(300)]


def test_a_text_that_is_too_long_in_any_part_is_given_up():
    with LLMStub(default=Reply(status=400, message="maximum context length exceeded")) as stub:
        outcome = one(alone(stub), "word " * 400)
        assert len(stub.requests) < 10
    assert (
        isinstance(outcome, Permanent) and outcome.error_class == "ContextOverflow" and not outcome.stops_all
    )


def test_an_answer_cut_off_for_length_is_used_in_part():
    cut = Reply('{"entities": ["Anna", "Ac', finish_reason="length")
    with LLMStub(default=cut) as stub:
        outcome = one(alone(stub), TEXT)
    assert [e.name for e in outcome.extraction.entities] == ["Anna"] and outcome.partly == 1


def test_an_answer_the_provider_withheld_gives_up_the_text():
    with LLMStub(default=Reply(EMPTY, finish_reason="content_filter")) as stub:
        outcome = one(alone(stub), TEXT)
    assert isinstance(outcome, Permanent) and not outcome.stops_all


def test_a_fallback_model_answers_where_the_first_does_not():
    with LLMStub([Reply(status=503)], default=Reply(ANSWER)) as stub:
        outcome = one(alone(stub, fallback_models=("openai/other",)), TEXT)
        assert [b["model"] for b in stub.requests] == ["stub", "other"]
    assert isinstance(outcome, Extracted) and outcome.model == "openai/other"


def test_where_all_models_fail_the_failure_that_may_pass_decides():
    with LLMStub([Reply(status=401), Reply(status=503)]) as stub:
        outcome = one(alone(stub, fallback_models=("openai/other",)), TEXT)
    assert isinstance(outcome, Retry) and outcome.counts is False


class Memory:
    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self.kept.get(key)

    def set(self, key: str, value: bytes, ttl_s: int) -> None:
        self.kept[key] = value


def test_an_answer_is_paid_for_once():
    cache = Memory()
    with LLMStub(default=Reply(ANSWER)) as stub:
        first = one(alone(stub, cache=cache), TEXT)
        again = one(alone(stub, cache=cache), TEXT)
        assert len(stub.requests) == 1
        assert list(cache.kept) == [answer_key(TEXT)]
        one(alone(stub, cache=cache), Source(TEXT, hints=OntologyHints(("service",))))
        assert len(stub.requests) == 2, "another prompt is another question"
    assert again.extraction == first.extraction
    assert (again.cost_usd, again.tokens_in) == (0.0, 0)


def test_a_failure_is_not_remembered():
    cache = Memory()
    with LLMStub([Reply("")], default=Reply(ANSWER)) as stub:
        assert isinstance(one(alone(stub, cache=cache), TEXT), Retry)
        assert isinstance(one(alone(stub, cache=cache), TEXT), Extracted)


def test_a_turn_with_recitals_is_cached_under_the_text_as_stored():
    cache = Memory()
    source = Source(
        "You work at Acme. Kestrel uses Redis.", role="assistant", known_memories=("I work at Acme",)
    )
    with LLMStub() as stub:
        one(alone(stub, cache=cache), source)
        assert "Acme" not in stub.requests[0]["messages"][1]["content"]
    assert list(cache.kept) == [answer_key(source.text)]


def test_a_spent_budget_stops_calls_and_costs_no_row_a_try():
    budget = Budget(may_spend=lambda: False, spent=lambda usd: None)
    with LLMStub() as stub:
        outcome = one(alone(stub, budget=budget), TEXT)
        assert stub.requests == []
    assert isinstance(outcome, Retry) and not outcome.counts
    assert outcome.error_class == "BudgetSpent"
    tomorrow = datetime.now(UTC).timestamp() + outcome.retry_after_s
    assert datetime.fromtimestamp(tomorrow + 1, UTC).hour == 0


def test_what_a_priced_model_costs_is_told_to_the_budget():
    spent: list[float] = []
    budget = Budget(may_spend=lambda: True, spent=spent.append)
    with LLMStub(default=Reply(ANSWER)) as stub:
        extractor = LLMExtractor(
            LLMConfig("openai/gpt-4o-mini", api_base=stub.url, api_key="x"), budget=budget
        )
        outcome = one(extractor, TEXT)
    assert spent == [outcome.cost_usd] and outcome.cost_usd > 0


def test_the_key_is_not_shown():
    assert "hunter2" not in repr(LLMConfig("openai/stub", api_key="hunter2"))


def test_importing_the_package_loads_no_model_library():
    code = (
        "import sys, loom_core.extraction as e; e.extract, e.build_extractor, e.LLMConfig, e.Source;"
        " print(sorted({'spacy', 'litellm', 'pint', 'openai'} & set(sys.modules)))"
    )
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert run.stdout.strip() == "[]"


def test_a_provider_without_a_model_is_refused_by_name():
    with pytest.raises(ValueError, match="LOOM_LLM_MODEL"):
        build_extractor("litellm")
    with pytest.raises(ValueError, match="LOOM_LLM_PROVIDER"):
        build_extractor("fake")


def test_extract_asks_the_model_that_the_settings_name(monkeypatch):
    with LLMStub(default=Reply(ANSWER)) as stub:
        monkeypatch.setenv("LOOM_LLM_MODEL", "openai/stub")
        monkeypatch.setenv("LOOM_LLM_API_BASE", stub.url)
        get_settings.cache_clear()
        try:
            found = extract(TEXT, provider="litellm")
        finally:
            get_settings.cache_clear()
    assert ("Anna", "openai/stub") in {(r.subject, r.extractor) for r in found.relations}
