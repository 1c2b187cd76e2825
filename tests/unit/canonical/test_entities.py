"""The rules of `canonicalise`, one by one."""

from __future__ import annotations

import pytest

from loom_core.canonical import NAME_LIMIT, canonicalise


@pytest.mark.parametrize(
    "text",
    [
        "The Billing Service's",
        "billing service",
        "BILLING SERVICES",
        "the `billing` services’",
        "my billing service.",
    ],
)
def test_spellings_of_one_name_are_one_node(text: str) -> None:
    assert canonicalise(text) == "billing service"


@pytest.mark.parametrize(
    "text",
    ["error:Timeouts", "`error:Timeouts`", "“error:Timeouts”", "the error:TIMEOUTS", "error：Timeouts"],
)
def test_an_identifier_is_never_singularised(text: str) -> None:
    assert canonicalise(text) == "error:timeouts"


@pytest.mark.parametrize(
    "text",
    [
        "error: Timeouts",
        "error:`Timeouts`",
        'error:"Timeouts"',
        "error:**Timeouts**",
        "error:\tTimeouts",
        "error:[Timeouts](#t)",
    ],
)
def test_a_blank_or_markup_after_the_colon_makes_prose(text: str) -> None:
    assert canonicalise(text) == "error: timeout"


def test_prose_does_not_turn_into_an_identifier_on_a_second_pass() -> None:
    assert canonicalise("error: timeout") == "error: timeout"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("James's", "james"),
        ("James’", "james"),
        ("the boss's", "boss"),
        ("commit:abc123's", "commit:abc123"),
        ("k8s's", "k8s"),
        ("the 1990's", "1990s"),
        ("the services' owner", "services owner"),
        ("my team's services", "team service"),
    ],
)
def test_possessives_are_stripped(text: str, canonical: str) -> None:
    assert canonicalise(text) == canonical


@pytest.mark.parametrize("text", ["I", "me", "MY", "mine", "myself", "the mine", "I'm", "user", "users"])
def test_the_first_person_is_the_user(text: str) -> None:
    assert canonicalise(text) == "user"


@pytest.mark.parametrize("text", ["we", "us", "our", "US", "U.S.", "u.s", "ours"])
def test_the_plural_of_the_first_person_is_nobody(text: str) -> None:
    assert canonicalise(text) is None


def test_mines_do_not_become_the_user() -> None:
    assert canonicalise("mines") == "mines"
    assert canonicalise("coal mines") == "coal mine"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("京", None),
        ("北京", "北京"),
        ("カ", None),
        ("カフ", "カフ"),
        ("글", None),
        ("서울", "서울"),
        ("é", None),
        ("ñu", None),
        ("pr", None),
        ("x²", None),
    ],
)
def test_two_characters_are_a_name_in_east_asian_scripts_only(text: str, canonical: str | None) -> None:
    assert canonicalise(text) == canonical


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a" * NAME_LIMIT, "a" * NAME_LIMIT),
        ("a" * (NAME_LIMIT + 1), None),
        ("the " + "b" * (NAME_LIMIT - 4), "b" * (NAME_LIMIT - 4)),
        ("the " + "b" * (NAME_LIMIT - 3), None),
        ("ﬁ" * 200, None),
        ("ß" * 200, None),
        ("ß" * 128, "ss" * 128),
        (" " * 200 + "billing service", "billing service"),
        (" " * 250 + "billing service", None),
    ],
    ids=[
        "256",
        "257",
        "256 with article",
        "257 with article",
        "grows under NFKC",
        "grows under casefold",
        "just fits",
        "padded",
        "padded too far",
    ],
)
def test_a_name_too_long_as_written_or_normalised_is_dropped(text: str, canonical: str | None) -> None:
    assert canonicalise(text) == canonical


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("c++ library", "c# library"),
        ("release 1", "release 11"),
        ("北京 release plan", "東京 release plan"),
        (".net", "net"),
        ("__init__", "init"),
        ("#general", "general"),
        ("--verbose", "verbose"),
        ("node.js", "node js"),
        ("parse_config()", "parse_config"),
        ("-5 degrees", "5 degrees"),
        ("1990s", "1990"),
        ("HTTPS", "HTTP"),
        ("lens", "len"),
        ("Hans", "Han"),
        ("Andreas", "Andrea"),
        ("ASICs", "ASIC"),
        ("Polars", "polar"),
    ],
)
def test_different_names_stay_apart(one: str, other: str) -> None:
    assert None not in (canonicalise(one), canonicalise(other))
    assert canonicalise(one) != canonicalise(other)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("bill\u200bing service", "billing service"),
        ("\u202abilling service\u202c", "billing service"),
        ("soft\u00adhyphen", "softhyphen"),
        ("\U000e0041billing service", "billing service"),
        ("billing\x00service", "billing service"),
        ("billing\ud800service", "billing service"),
        ("नई दिल्ली", "नई दिल्ली"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("bill\u200ding", "billing"),
        ("İstanbul", "istanbul"),
        ("O´Reilly", "o'reilly"),
    ],
)
def test_what_no_reader_sees_does_not_make_a_name(text: str, canonical: str) -> None:
    assert canonicalise(text) == canonical


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("Steve Jobs", "steve jobs"),
        ("cron jobs", "cron job"),
        ("Elizabeth Banks", "elizabeth banks"),
        ("food banks", "food bank"),
        ("Cassandra fields", "cassandra field"),
        ("Windows", "windows"),
        ("context windows", "context window"),
        ("AIDS", "aids"),
        ("hearing aids", "hearing aid"),
        ("Niagara Falls", "niagara falls"),
        ("free falls", "free fall"),
        ("Microsoft Teams", "microsoft teams"),
        ("two teams", "two team"),
        ("isles of Scilly", "isles of scilly"),
        ("points of contact", "point of contact"),
    ],
)
def test_a_name_keeps_its_plural(text: str, canonical: str) -> None:
    assert canonicalise(text) == canonical


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("hyperwidgets", "hyperwidget"),
        ("dequantizations", "dequantization"),
        ("rebalancers", "rebalancer"),
        ("Zorblaxis", "zorblaxis"),
        ("Qwertius", "qwertius"),
        ("Fnords", "fnords"),
    ],
)
def test_a_word_in_no_dictionary_is_singularised_only_by_parts_that_are(text: str, canonical: str) -> None:
    assert canonicalise(text) == canonical
