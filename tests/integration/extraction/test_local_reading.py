"""The local extractor on sentences about software and people, through the real pipeline."""

from datetime import UTC, datetime

import pytest

from loom_core.canonical import canonicalise
from loom_core.extraction import Extraction, Fact, Source, build_extractor, extract

AT = datetime(2025, 11, 2, 10, tzinfo=UTC)


def read(text: str, role=None, **more) -> Extraction:
    (outcome,) = build_extractor("spacy").extract_many([Source(text, AT, role, **more)])
    return outcome.extraction


def names(extraction: Extraction) -> list[str | None]:
    return [canonicalise(e.name) for e in extraction.entities]


def triples(extraction: Extraction) -> set[tuple[str | None, str, str | None]]:
    return {(canonicalise(r.subject), r.relation, canonicalise(r.object)) for r in extraction.relations}


def day(year: int, month: int, number: int = 1) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The billing service reads invoices from the ledger database.", ["billing service", "ledger database"]),
        ("checkout-api depends on redis and the payment gateway.", ["checkout-api", "redis", "payment gateway"]),
        ("The primary database replicates to the read replica.", ["primary database", "read replica"]),
        ("error:Timeouts happen when DATABASE_URL points to the staging cluster.",
         ["error:timeouts", "database_url", "staging cluster"]),
        ("commit:9f3ab21 fixed parse_config() in src/config/parser.py.",
         ["commit:9f3ab21", "parse_config()", "src/config/parser.py"]),
        ("Boris reports to Anna, who manages the platform team.", ["boris", "anna", "platform team"]),
        ("Kubernetes runs the ingest worker.", ["kubernetes", "ingest worker"]),
        ("chore(redis): Fixes typo in `Channel.close()`\n\nSigned-off-by: Ann <a@b.c>", ["redis", "channel.close()"]),
        ("Fixes deadlock in ProducerPool", ["producerpool"]),
    ],
)  # fmt: skip
def test_what_a_text_names_in_the_order_it_names_it(text, expected):
    found = names(read(text))
    assert [n for n in found if n in expected] == expected


@pytest.mark.parametrize(
    "text",
    [
        "This is a bit odd in some cases.",
        "It works now, and that is the point.",
        "We did this a lot of times.",
        "Fix.",
        "It ended on Oct 1, last week, in March 2023, and took 30 seconds.",
        "",
        "  \n ",
        "🎉🎉🎉",
    ],
)
def test_words_that_name_nothing_in_particular_are_no_entities(text):
    assert names(read(text)) == []


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("The billing service reads invoices from the ledger database.", ("billing service", "read_from", "ledger database")),
        ("The billing service reads invoices from the ledger database.", ("billing service", "read", "invoice")),
        ("The outage was caused by the connection pool.", ("connection pool", "cause", "outage")),
        ("checkout-api depends on redis and the payment gateway.", ("checkout-api", "depend_on", "payment gateway")),
        ("Redis and Postgres back the session cache.", ("postgres", "back", "session cache")),
        ("John and Mary founded Kestrel.", ("mary", "found", "kestrel")),
        ("Boris reports to Anna, who manages the platform team.", ("anna", "manage", "platform team")),
        ("The team started using Kafka.", ("team", "use", "kafka")),
        ("Anna plans to move to Berlin.", ("anna", "plan_to_move_to", "berlin")),
        ("The billing service owns the invoices table. It depends on the ledger database.",
         ("billing service", "depend_on", "ledger database")),
        ("Kestrel's owner is Maria.", ("kestrel", "owner", "maria")),
        ("The owner of Kestrel is Maria.", ("kestrel", "owner", "maria")),
        ("Redis is a key-value store used by the session cache.", ("session cache", "use", "key-value store")),
        ("The API falls back to Postgres.", ("api", "fall_back_to", "postgres")),
        ("Kubernetes runs the ingest worker, the scheduler and the metrics exporter.",
         ("kubernetes", "run", "metrics exporter")),
        ("The service might use Kafka.", ("service", "might_use", "kafka")),
        ("My dog Rex loves salmon.", ("rex", "love", "salmon")),
        ("I work at Acme.", ("user", "work_at", "acme")),
        ("My employer is Acme.", ("user", "employer", "acme")),
    ],
)  # fmt: skip
def test_a_statement_is_a_triple(text, triple):
    assert triple in triples(read(text))


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("The worker doesn't use Celery.", "use"),
        ("The worker has never used Celery.", "use"),
        ("It doesn't read or write Redis, Anna says.", "write"),
        ("Does the worker use Celery?", "use"),
        ("If the worker uses Celery, restart it.", "use"),
        ("The worker has no tests.", "have"),
        ("Anna refuses to use Vim.", "use"),
        ("He lives in Rome.", "live_in"),
        ("They told us about it.", "tell"),
        ("Add Redis to the worker.", "add_to"),
    ],
)
def test_what_is_denied_asked_ordered_or_said_of_nobody_is_no_statement(text, relation):
    assert relation not in {r.relation for r in read(text).relations}


@pytest.mark.parametrize(
    ("text", "past", "valid_from", "valid_to"),
    [
        ("Anna works at Acme.", False, None, None),
        ("Anna worked at Acme.", True, None, None),
        ("Anna used to work at Acme.", True, None, None),
        ("Anna has worked at Acme since March 2023.", False, day(2023, 3), None),
        ("Anna works at Acme since March.", False, day(2025, 3), None),
        ("Anna worked at Acme from 2019 to 2021.", True, day(2019, 1), day(2021, 1)),
        ("Anna works at Acme until December.", False, None, day(2025, 12)),
        ("Anna no longer works at Acme.", True, None, AT),
        ("Anna doesn't work at Acme anymore.", True, None, AT),
        ("Anna stopped working at Acme last week.", True, None, day(2025, 10, 20)),
        ("Anna started working at Acme last week.", True, day(2025, 10, 20), None),
        ("Anna will work at Acme on May 1.", False, day(2026, 5), None),
    ],
)
def test_a_statement_has_its_tense_and_dates(text, past, valid_from, valid_to):
    found = [r for r in read(text).relations if r.relation == "work_at"]
    assert [(r.past, r.valid_from, r.valid_to) for r in found] == [(past, valid_from, valid_to)]


def test_each_clause_has_its_own_date():
    found = read("I lived in London until December, now I live in Paris.")
    lives = {r.object: (r.past, r.valid_to) for r in found.relations if r.relation == "live_in"}
    assert lives == {"London": (True, day(2025, 12)), "Paris": (False, None)}


def test_a_passive_participle_is_not_past():
    (found,) = (r for r in read("The office is located in Berlin.").relations if r.relation == "locate_in")
    assert found.past is False


@pytest.mark.parametrize(
    ("role", "text", "user"),
    [
        ("user", "I work at Acme.", True),
        ("user", "You work at Acme.", False),
        ("assistant", "You work at Acme.", True),
        ("assistant", "I work at Acme.", False),
        ("user", "We work at Acme.", False),
    ],
)
def test_i_is_the_user_in_the_users_turn_and_you_in_the_assistants(role, text, user):
    found = read(text, role)
    assert (("user", "work_at", "acme") in triples(found)) is user
    assert ("user" in names(found)) is user


def test_an_assistant_that_recites_a_memory_states_nothing():
    found = read("You work at Acme. Kestrel uses Redis.", "assistant", known_memories=("I work at Acme",))
    assert triples(found) == {("kestrel", "use", "redis")}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("The p95 latency of the checkout service is 250 ms.", Fact("checkout service", "p95_latency", 250.0, "millisecond")),
        ("The connection pool has 40 connections.", Fact("connection pool", "connection", 40.0)),
        ("The connection pool has a timeout of 30 seconds.", Fact("connection pool", "timeout", 30.0, "second")),
        ("The plan costs $20 a month.", Fact("plan", "cost", 20.0, "USD/month")),
        ("The worker uses 2 GB of memory.", Fact("worker", "memory", 2.0, "gigabyte")),
        ("My rent is 1200 euros.", Fact("user", "rent", 1200.0, "EUR")),
        ("Checkout latency dropped to 1.5 seconds in March 2025.", Fact("Checkout", "latency", 1.5, "second", day(2025, 3))),
    ],
)  # fmt: skip
def test_a_number_is_a_fact_about_something(text, fact):
    assert fact in read(text).facts


@pytest.mark.parametrize(
    "text",
    [
        "The database doesn't have 3 replicas.",
        "My phone is 555-1234.",
        "Acme acquired Initech for $2 billion.",
        "Redis 7 is out.",
        "The service reads the ledger database; 105.",
    ],
)
def test_a_number_that_is_denied_or_measures_nothing_named_is_no_fact(text):
    assert read(text).facts == ()


def test_a_fragment_of_code_is_no_name():
    read_ = read("The worker writes Disk('backups', 'monthly.zip') before it stops the ledger database.")
    found = [*names(read_), *(end for r in read_.relations for end in (r.subject, r.object))]
    assert "ledger database" in found
    assert not [name for name in found if name.count("(") != name.count(")")]


def test_every_name_stands_in_its_text():
    text = (
        "Anna, the owner of Kestrel, moved the billing service to Postgres in 2024. It now handles 1,200 requests."
        " She used to work at Initech."
    )
    found = read(text)
    assert found.entities and found.relations
    for name in [
        *(e.name for e in found.entities),
        *(r.subject for r in found.relations),
        *(r.object for r in found.relations),
    ]:
        assert name in text


def test_extract_reads_one_text_with_the_local_pipeline():
    found = extract("The billing service reads invoices from the ledger database.", at=AT)
    assert names(found) == ["billing service", "ledger database"]
    assert {r.extractor for r in found.relations} == {"spacy/en_core_web_sm"}
    assert extract("The billing service reads invoices.", provider="fake") == Extraction()
    with pytest.raises(ValueError, match="LOOM_LLM_PROVIDER"):
        extract("x", provider="nobody")
