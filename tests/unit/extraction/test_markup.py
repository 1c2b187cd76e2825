"""What a parser of prose is shown of Markdown and Git text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_core.extraction.local.markup import MAX_BLOCK_CHARS, Block, blocks


def prose(text: str) -> list[str]:
    return [b.text for b in blocks(text) if b.text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One line\nwrapped here.\n\nAnother.", ["One line wrapped here.", "Another."]),
        ("* first item\n* second item\n  goes on\n1. third", ["first item", "second item goes on", "third"]),
        ("# Heading\ntext below", ["Heading", "text below"]),
        ("Title\n=====\ntext", ["Title", "text"]),
        ("> quoted line\n> more of it", ["quoted line more of it"]),
        ("Look:\n```python\nimport os\n```\ndone now", ["Look:", "done now"]),
        ("open fence\n```\ncode to the end", ["open fence"]),
        ("see [the docs](https://example.org/a_b) for **more**", ["see the docs for more"]),
        ("it broke at https://example.org/x?y=1 again", ["it broke at again"]),
        ("| name | role |\n|------|------|\n| redis | broker |", ["name", "role", "redis", "broker"]),
        ("Merge pull request #12 from x/y\n\nFix the retry", ["Fix the retry"]),
        ("Merge branch 'main' of github.com:x/y into z", []),
        ("Fix it\n\nSigned-off-by: Ann <a@b.c>\nCo-authored-by: Bo <b@c.d>\nChange-Id: I12", ["Fix it"]),
        ("Bump x\n\n---\nupdated-dependencies:\n- dependency-name: grpcio\n  dependency-type: direct\n...", ["Bump x"]),
        ("location: Berlin\nemployer: Acme", ["location: Berlin employer: Acme"]),
        ("call `parse_config()` first", ["call parse_config() first"]),
        ("type `loom drain --timeout 600`, then `loom status`", ["type loom drain, then loom status"]),
        ("`--timeout` is in seconds, `x - y` a sum", ["--timeout is in seconds, x - y a sum"]),
        ("error:`Timeouts` came", ["error: Timeouts came"]),
        ("`error:Timeouts` came", ["error:Timeouts came"]),
        ("the <b>bold</b> one <!-- not\nthis -->", ["the bold one"]),
        ("update sort :fire: of things (#1711)", ["update sort of things"]),
        ("keep __init__ and snake_case_names as they are", ["keep __init__ and snake_case_names as they are"]),
        ("", []),
        (" \n\t\n", []),
        ("🎉🎉 🚀", []),
        ("0x00ff 1234 5678 $$$ ### 90", []),
    ],
)  # fmt: skip
def test_markup_becomes_sentences(text, expected):
    assert prose(text) == expected


@pytest.mark.parametrize(
    ("title", "block"),
    [
        ("[redis] Fix the retry", Block("Fix the retry", ("redis",))),
        ("fix(redis): handle retries", Block("handle retries", ("redis",))),
        ("feat!: handle retries", Block("handle retries", ())),
        ("chore(ci)(deps): x", Block("chore(ci)(deps): x", ())),
        ("[pre-commit.ci] chore(ci): bump hooks", Block("bump hooks", ("pre-commit.ci", "ci"))),
    ],
)
def test_the_components_at_a_titles_head_are_tags(title, block):
    assert list(blocks(title)) == [block]


def test_a_long_paragraph_is_cut_between_sentences():
    text = "The worker reads a row. " * 1000
    parts = prose(text)
    assert all(len(p) <= MAX_BLOCK_CHARS for p in parts)
    assert all(p.endswith("row.") for p in parts)
    assert sum(p.count("row.") for p in parts) == 1000


def test_a_paragraph_without_blanks_is_cut_all_the_same():
    parts = prose("x" * 12_001)
    assert "".join(parts) == "x" * 12_001


@pytest.mark.parametrize(
    "part",
    [
        "![",
        "[a](",
        "<!--",
        "<a@",
        "a@",
        "<a ",
        "a.",
        "(a/",
        "`",
        "* ",
        "|",
        " |",
        "   ",
        "--- ",
        "- a:",
        ">",
        "#",
        ":a",
        "a-",
    ],
)
def test_no_text_makes_a_pattern_run_away(part):
    started = time.monotonic()
    for text in (part * (400_000 // len(part)), "x" + part * (400_000 // len(part)) + "\n|X"):
        for _ in blocks(text):
            pass
    assert time.monotonic() - started < 10


@given(st.text(max_size=500))
def test_any_text_is_read_without_newlines_controls_or_surrogates(text):
    for block in blocks(text):
        assert block.text == " ".join(block.text.split())
        block.text.encode("utf-8")
