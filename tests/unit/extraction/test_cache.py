"""Answers kept by the content they were given for."""

import json

from loom_core.extraction.llm.cache import TTL_S, CachedAnswers, answer_key


class Memory:
    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.ttls: list[int] = []

    def get(self, key: str) -> bytes | None:
        return self.kept.get(key)

    def set(self, key: str, value: bytes, ttl_s: int) -> None:
        self.kept[key] = value
        self.ttls.append(ttl_s)


def test_an_answer_is_found_for_the_same_text_and_request_only():
    answers = CachedAnswers(Memory())
    answers.keep("text", "model a", ["{}", "[]"])
    assert answers.find("text", "model a") == ["{}", "[]"]
    assert answers.find("text", "model b") is None
    assert answers.find("texts", "model a") is None


def test_two_models_answers_to_one_text_live_under_one_key_that_an_erasure_can_name():
    memory = Memory()
    answers = CachedAnswers(memory)
    answers.keep("text", "model a", ["1"])
    answers.keep("text", "model b", ["2"])
    assert list(memory.kept) == [answer_key("text")]
    assert (answers.find("text", "model a"), answers.find("text", "model b")) == (["1"], ["2"])
    assert set(memory.ttls) == {TTL_S}


def test_a_key_does_not_show_the_text():
    assert "secret" not in answer_key("secret")


def test_what_someone_else_left_under_the_key_is_no_answer():
    memory = Memory()
    for junk in (b"\xff\xfe", b"[]", b"7", json.dumps({"x": 1}).encode()):
        memory.kept[answer_key("text")] = junk
        assert CachedAnswers(memory).find("text", "model") is None


def test_a_text_with_a_lone_surrogate_has_a_key():
    assert answer_key("\ud800") != answer_key("a")
