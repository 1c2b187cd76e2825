"""A setting that is wrong is named, with its limit and without its value."""

from __future__ import annotations

import pytest

from loom_core.errors import Invalid
from loom_core.settings import load_settings


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"LOOM_SHARDS": "abc"}, "LOOM_SHARDS: Input should be a valid integer"),
        ({"LOOM_SHARDS": "0"}, "LOOM_SHARDS: Input should be greater than or equal to 1"),
        ({"LOOM_LLM_PROVIDER": "gpt"}, "LOOM_LLM_PROVIDER: Input should be 'fake', 'spacy' or 'litellm'"),
        ({"LOOM_LEASE_S": "10"}, r"LOOM_TICK_HARD_LIMIT_S \(330\) must be less than LOOM_LEASE_S \(10\)"),
        ({"LOOM_FAULT": "edges:insert:raise"}, "LOOM_FAULT needs LOOM_TESTING=1"),
    ],
)
def test_what_is_wrong_is_named(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], said: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Invalid, match=f"^bad_setting: {said}|^{said}"):
        load_settings()


def test_several_are_named_at_once_and_no_value_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_SHARDS", "canary")
    monkeypatch.setenv("LOOM_LLM_RPM", "canary")
    with pytest.raises(Invalid) as caught:
        load_settings()
    assert "LOOM_SHARDS" in str(caught.value)
    assert "LOOM_LLM_RPM" in str(caught.value)
    assert "canary" not in str(caught.value)
