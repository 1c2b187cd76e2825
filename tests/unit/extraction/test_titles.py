"""Change titles given a subject, so that their verb is not read as a name."""

import pytest

from loom_core.extraction.local.titles import as_sentence, is_change_verb


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("Fix deadlock in ProducerPool", "We fix deadlock in ProducerPool"),
        ("Fixes deadlock in ProducerPool", "It fixes deadlock in ProducerPool"),
        ("Fixed typo", "We fixed typo"),
        ("Adding tests", "We are adding tests"),
        ("Drops py34 support", "It drops py34 support"),
        ("Dropped py34", "We dropped py34"),
        ("Now depends on amqp 2.1", "Now depends on amqp 2.1"),
        ("Simplify the retry", "We simplify the retry"),
        ("Simplifies the retry", "It simplifies the retry"),
        ("Fixes for funtests", "Fixes for funtests"),
        ("Update failed last night", "Update failed last night"),
        ("Redis is down", "Redis is down"),
        ("Fix", "Fix"),
        ("", ""),
        ("Don't call close", "We don't call close"),
    ],
)
def test_a_title_is_read_as_a_sentence(title, sentence):
    assert as_sentence(title) == sentence


def test_a_change_verb_in_any_form_is_no_name():
    assert all(map(is_change_verb, ("Fix", "fixes", "Bumped", "removing")))
    assert not any(map(is_change_verb, ("Redis", "fixture", "worker")))
