"""The local extractor on what nobody should send it: size, rubbish, other scripts, and for ever."""

import random
import resource
import string
import time

import pytest

from loom_core.extraction import Extracted, Permanent, Source, build_extractor
from loom_core.extraction.local.extractor import MAX_ENTITIES, SpacyExtractor
from loom_core.extraction.local.pipeline import load


@pytest.fixture(scope="module")
def extractor():
    return build_extractor("spacy")


def read(extractor, text):
    (outcome,) = extractor.extract_many([Source(text)])
    assert isinstance(outcome, Extracted), outcome
    return outcome.extraction


def word(rng: random.Random) -> str:
    return "".join(rng.choices(string.ascii_lowercase, k=rng.randint(4, 12)))


def test_a_megabyte_of_one_sentence_is_read_once(extractor):
    started = time.monotonic()
    found = read(extractor, "The billing service reads invoices from the ledger database.\n\n" * 16_000)
    assert [e.name for e in found.entities] == ["billing service", "ledger database"]
    assert time.monotonic() - started < 30


def test_a_megabyte_of_different_names_is_bounded(extractor):
    rng = random.Random(1)
    text = " ".join(
        f"{word(rng).title()} {word(rng).title()} met {word(rng).title()}." for _ in range(35_000)
    )
    assert len(text) > 900_000
    started = time.monotonic()
    assert len(read(extractor, text).entities) == MAX_ENTITIES
    assert time.monotonic() - started < 90


def test_a_megabyte_without_a_blank_is_read(extractor):
    assert len(read(extractor, "x" * 1_000_000).entities) <= MAX_ENTITIES


@pytest.mark.parametrize(
    "text",
    [
        "🎉" * 5000,
        bytes(range(256)).decode("latin-1") * 40,
        "\x00\x01\x02" * 100,
        "\ud800 lone \udfff surrogates",
        "((((((" * 2000,
        "a" + "\u0301" * 2000,
        "\u202e\u2066 hidden \u200b\u200d",
        "= = = | | | \n---\n" * 200,
        "bread of " * 2000,
        "want to " * 2000,
        "fix and " * 2000,
        "Anna, " * 2000,
        "a/b/" * 1200 + ".",
        "aA" * 2400 + "!",
        "1,1" * 1500,
        "from 2023 to " * 400,
    ],
    ids=[
        "emoji",
        "latin-1 rubbish",
        "controls",
        "surrogates",
        "brackets",
        "combining",
        "bidi",
        "rules",
        "nested of",
        "infinitives",
        "coordinated verbs",
        "a list",
        "a path",
        "camel case",
        "digits",
        "dates",
    ],
)
def test_rubbish_is_read_without_harm_to_its_neighbours(extractor, text):
    good = Source("The billing service reads invoices from the ledger database.")
    outcomes = list(extractor.extract_many([good, Source(text), good]))
    assert len(outcomes) == 3
    assert all(isinstance(o, Extracted) for o in outcomes)
    assert outcomes[0] == outcomes[2]


@pytest.mark.parametrize(
    "text",
    ["北京发布计划由王伟负责。", "Сервис читает счета из базы.", "الخدمة تقرأ الفواتير", "請求書サービス"],
)
def test_other_scripts_are_read_without_failing(extractor, text):
    for entity in read(extractor, text).entities:
        assert entity.name in text


def test_a_reader_that_breaks_on_one_text_reads_the_others(extractor, monkeypatch):
    from loom_core.extraction.local import extractor as module

    plain = module.relations

    def breaking(doc, *rest):
        if "poison" in doc.text:
            raise RuntimeError("broken")
        return plain(doc, *rest)

    monkeypatch.setattr(module, "relations", breaking)
    texts = ["Redis is up.", "poison here.", "Kafka is up."]
    outcomes = list(extractor.extract_many(map(Source, texts)))
    assert [type(o) for o in outcomes] == [Extracted, Permanent, Extracted]
    assert not outcomes[1].stops_all


def test_texts_are_drawn_as_they_are_read(extractor):
    drawn = 0

    def texts():
        nonlocal drawn
        for i in range(5000):
            drawn += 1
            yield Source(f"Worker {i} reads the queue.")

    outcomes = extractor.extract_many(texts())
    next(outcomes)
    assert drawn < 1500
    outcomes.close()


def test_a_pipeline_that_is_not_installed_stops_the_batch_and_says_so():
    outcomes = list(SpacyExtractor("no_such_model").extract_many([Source("a"), Source("b")]))
    assert [(type(o), o.stops_all) for o in outcomes] == [(Permanent, True)] * 2
    assert "no_such_model" in outcomes[0].message


@pytest.mark.parametrize("words", [20_000, pytest.param(200_000, marks=pytest.mark.nightly)])
def test_memory_levels_off_however_many_distinct_words_are_met(extractor, words):
    rng = random.Random(7)

    def sources(count):
        for _ in range(count):
            yield Source(" ".join(word(rng) for _ in range(100)) + ".")

    def peak_mib() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    vocabulary = len(load().nlp.vocab.strings)
    for _ in extractor.extract_many(sources(words // 200)):
        pass
    warm = peak_mib()
    for _ in extractor.extract_many(sources(words // 200)):
        pass
    # 100,000 further words would keep about 40 MiB without the zones.
    assert peak_mib() - warm < 15
    assert len(load().nlp.vocab.strings) == vocabulary
