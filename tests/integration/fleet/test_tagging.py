"""Rows without entities are read in batches, whatever the extractor does to them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from loom_core import clock
from loom_core.coordination.work import Deadline, Handled
from loom_core.errors import Unavailable
from loom_core.extraction.outcomes import Extracted, Outcome, Permanent, Retry, Source
from loom_core.extraction.results import Entity, Extraction, Relation
from loom_core.projection import attempts, failures
from loom_core.projection.failures import EXTRACTION
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tagging.due import due_scopes
from loom_core.tagging.reader import Reader
from loom_core.tagging.spending import DailyBudget
from loom_core.tagging.turn import tag_turn
from tests.support.world import World, fault

SETTINGS = Settings(
    llm_provider="spacy",
    entity_extract_batch=64,
    entity_extract_max_attempts=3,
    projection_retry_base_delay_s=0,
    projection_retry_orphan_after_s=0,
)


def read(source: Source) -> Outcome:
    """Every pair of words is a name."""
    words = source.text.split()
    names = [" ".join(pair) for pair in zip(words[::2], words[1::2], strict=False)]
    relations = [Relation(a, "use", b) for a, b in itertools.pairwise(names)]
    return Extracted(
        Extraction(tuple(Entity(name) for name in names), tuple(relations)), "stub/words", 10, 5, 0.01
    )


@dataclass
class StubExtractor:
    """Answers as `answer` does, and notes what it was asked."""

    answer: Callable[[Source], Outcome] = read
    id: str = "stub/words"
    prompt_version: str = "1"
    asked: list[Source] = field(default_factory=list)

    def extract_many(self, texts: Iterable[Source]) -> Iterator[Outcome]:
        for text in texts:
            self.asked.append(text)
            yield self.answer(text)


@pytest.fixture
def world(store: Store) -> World:
    return World(store, SETTINGS)


def tag(world: World, extractor: StubExtractor, *, seconds: float = 60, budget_usd: float = 0) -> Handled:
    reader = Reader(extractor, DailyBudget(world.store, budget_usd))
    return tag_turn(world.store, world.scope, reader, world.settings, Deadline(seconds))


def tag_all(world: World, extractor: StubExtractor) -> None:
    for _ in range(30):
        handled = tag(world, extractor)
        if not handled.more:
            return
    raise AssertionError("never done")


def tagged(world: World) -> set[str]:
    rows = world.store.rows(
        "SELECT memory_key FROM loom.memory_extractions FINAL WHERE org = {org:String} AND namespace = {namespace:String}",
        **world.names,
    )
    return {key for (key,) in rows}


def bulk(world: World, *texts: str, **more: Any) -> None:
    world.set_many(*({"memory_key": f"k{i}", "value": text, **more} for i, text in enumerate(texts)))


def test_a_bulk_row_gets_entities_and_triples_a_point_row_entities_only(world: World) -> None:
    """D37."""
    bulk(world, "alpha service beta service")
    world.set("point", "gamma service delta service")
    assert world.scope in due_scopes(world.store)
    tag_all(world, StubExtractor())
    assert world.related("alpha service") == {"beta service": 1}
    assert world.related("gamma service") == {"delta service": 1}
    assert [(r.subject, r.object, r.adapter_name) for r in world.list()] == [
        ("alpha service", "beta service", "stub/words")
    ]
    world.verified()


@pytest.mark.parametrize(
    ("case", "row"),
    [
        ("declared entities", {"entities": ["one thing"]}),
        ("declared to have none", {"entities": []}),
        ("high", {"sensitivity": "high"}),
    ],
)
def test_a_row_that_is_not_the_extractors_is_not_read(world: World, case: str, row: dict[str, Any]) -> None:
    bulk(world, "alpha service beta service", **row)
    stub = StubExtractor()
    tag_all(world, stub)
    assert not stub.asked


def test_earlier_versions_of_a_row_that_turned_high_are_not_read(world: World) -> None:
    world.set("k", "alpha service beta service")
    world.set("k", "gamma service delta service", sensitivity="high")
    world.set("k", "epsilon service zeta service")
    stub = StubExtractor()
    tag_all(world, stub)
    assert [source.text for source in stub.asked] == ["epsilon service zeta service"]


def test_a_blank_row_among_ten_is_tagged_with_nothing_and_asks_nobody(world: World) -> None:
    """B61."""
    bulk(world, *[f"alpha {n} beta {n}" for n in range(9)], "  \n ")
    stub = StubExtractor()
    tag_all(world, stub)
    assert len(tagged(world)) == 10
    assert len(stub.asked) == 9


def test_a_text_that_breaks_the_extractor_costs_no_neighbour_its_turn(world: World) -> None:
    def answer(source: Source) -> Outcome:
        if "poison" in source.text:
            raise ZeroDivisionError
        return read(source)

    bulk(world, "alpha service beta service", "poison text", "gamma service delta service")
    for _ in range(5):
        tag(world, StubExtractor(answer))
    assert tagged(world) == {"k0", "k2"}
    (dead,) = failures.listed(world.store, world.scope, [failures.DEAD])
    assert (dead.memory_key, dead.projection, dead.attempts) == ("k1", EXTRACTION, 3)
    assert "ZeroDivisionError" in dead.error


def test_an_outcome_that_may_pass_is_tried_again_and_one_that_may_not_is_dead_at_once(world: World) -> None:
    answers = {
        "retry": iter([Retry("Timeout", "x"), None]),
        "give up": iter([Permanent("ContentFilter", "x")]),
    }

    def answer(source: Source) -> Outcome:
        known = next(answers[source.text]) if source.text in answers else None
        return known or read(source)

    bulk(world, "retry", "give up")
    stub = StubExtractor(answer)
    for _ in range(3):
        tag(world, stub)
    assert [source.text for source in stub.asked] == ["retry", "give up", "retry"]
    assert world.failures() == {("k0", EXTRACTION): "resolved", ("k1", EXTRACTION): "dead"}


def test_a_rate_limit_is_no_try_of_the_row_and_its_wait_is_handed_on(world: World) -> None:
    """B66."""
    limited = iter([Retry("RateLimitError", "slow down", 2.0, counts=False)] * 5)
    bulk(world, *[f"alpha {n} beta {n}" for n in range(8)])
    stub = StubExtractor(lambda source: next(limited, None) or read(source))
    first = tag(world, stub)
    assert (first.done, first.failed, first.more, first.wait_s) == (3, 0, True, 2.0)
    second = tag(world, stub)
    assert (second.done, second.more) == (5, False)
    assert world.failures() == {}


def test_a_wrong_key_stops_the_worker_and_spends_no_try(world: World) -> None:
    bulk(world, "alpha service beta service")
    for _ in range(4):
        with pytest.raises(Unavailable, match="AuthenticationError") as raised:
            tag(
                world,
                StubExtractor(
                    lambda _: Permanent("AuthenticationError", "key sk-123 is wrong", stops_all=True)
                ),
            )
        assert "sk-123" not in str(raised.value)
    assert world.failures() == {}
    tag_all(world, StubExtractor())
    assert tagged(world) == {"k0"}


def test_time_runs_out_in_the_middle_of_a_batch_and_what_was_read_stays(world: World) -> None:
    def answer(source: Source) -> Outcome:
        time.sleep(0.05)
        return read(source)

    bulk(world, *[f"alpha {n} beta {n}" for n in range(20)])
    stub = StubExtractor(answer)
    first = tag(world, stub, seconds=0.6)
    assert 0 < first.done < 20
    assert first.more
    tag_all(world, StubExtractor())
    assert len(tagged(world)) == 20
    assert world.failures() == {}


def test_a_day_s_budget_that_is_spent_stops_the_asking(world: World) -> None:
    world.store.command("TRUNCATE TABLE loom.llm_spend")
    bulk(world, *[f"alpha {n} beta {n}" for n in range(6)])
    world.settings = SETTINGS.model_copy(update={"entity_extract_batch": 2})
    stub = StubExtractor()
    for _ in range(5):
        tag(world, stub, budget_usd=0.035)
    assert len(stub.asked) == 4, "two batches of 0.02 USD pass a ceiling of 0.035"
    spent = world.store.rows("SELECT sum(cost_usd), sum(input_tokens) FROM loom.llm_spend FINAL")
    assert spent == [(pytest.approx(0.04), 40)]


def test_a_result_is_stored_once_and_no_model_is_asked_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D39, B65: died after the answer was stored, before it was projected."""
    bulk(world, "alpha service beta service")
    with fault(monkeypatch, "entity_extractor:stored:raise"), pytest.raises(Exception, match="fault"):
        tag(world, StubExtractor())
    stub = StubExtractor()
    tag_all(world, stub)
    assert not stub.asked
    from loom_core.recovery.retry import retry_batch

    retry_batch(world.store, world.scope, world.settings)
    assert world.related("alpha service") == {"beta service": 1}
    world.verified()


def test_rows_lost_with_their_process_are_tried_alone_the_innocent_first(world: World) -> None:
    bulk(world, "poison text", "alpha service beta service", "gamma service delta service")
    ids = [str(world.get(f"k{n}").memory_id) for n in range(3)]
    attempts.begin(world.store, world.scope, ids, EXTRACTION)
    asked: list[str] = []

    def answer(source: Source) -> Outcome:
        asked.append(source.text)
        if "poison" in source.text:
            raise KeyboardInterrupt  # stands for a killed process: nothing after it runs
        return read(source)

    def extract_many(texts: Iterable[Source]) -> Iterator[Outcome]:
        batch = list(texts)
        assert len(batch) == 1
        yield answer(batch[0])

    stub = StubExtractor()
    stub.extract_many = extract_many  # type: ignore[method-assign]
    for _ in range(10):
        try:
            tag(world, stub)
        except KeyboardInterrupt:
            continue
    assert tagged(world) == {"k1", "k2"}
    assert asked.count("poison text") == 2, "one try in company and two alone are the three there are"
    (dead,) = failures.listed(world.store, world.scope, [failures.DEAD])
    assert (dead.memory_key, dead.error_class) == ("k0", "WorkerLost")


def test_a_row_that_lands_while_the_worker_s_clock_is_ahead_is_read(world: World) -> None:
    bulk(world, "alpha service beta service")
    now = clock.now
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", lambda: now() + 3600 * clock.SECOND)
        tag_all(world, StubExtractor())
    world.set("k1", "gamma service delta service")
    assert world.scope in due_scopes(world.store)


def test_an_erased_row_is_neither_read_nor_written_of(world: World) -> None:
    """B72."""
    bulk(world, "alpha service beta service")
    world.erase("k0")
    stub = StubExtractor()
    tag_all(world, stub)
    assert not stub.asked
    assert world.failures() == {}
    assert world.count("memory_extractions") == world.count("projection_attempts") == 0


def test_an_assistants_turn_is_read_beside_what_was_said_before(world: World) -> None:
    from loom_core.memory import models

    world.memory.set_from_messages(
        world.context,
        models.MemorySetFromMessagesRequest(
            **world.names,
            messages=[
                {"role": "user", "content": "I use the ledger database"},
                {"role": "assistant", "content": "You use the ledger database"},
            ],
        ),
    )
    stub = StubExtractor()
    tag_all(world, stub)
    by_role = {source.role: source for source in stub.asked}
    assert by_role["assistant"].known_memories == ("I use the ledger database",)
    assert by_role["user"].known_memories == ()
