from __future__ import annotations

from typing import Any

import pytest

from loom_core.settings import Settings
from workers import task
from workers.registry import WORKERS

OFF = {spec.gate: False for spec in WORKERS}


def untouchable() -> Any:
    raise AssertionError("a store was touched")


@pytest.mark.parametrize("spec", WORKERS, ids=lambda spec: spec.name)
@pytest.mark.parametrize("shard", [None, 0, -1, "x"])
def test_a_message_for_a_worker_whose_gate_is_off_touches_nothing(
    spec: Any, shard: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "get_settings", lambda: Settings(**OFF))
    monkeypatch.setattr(task, "process_parts", untouchable)
    assert task.sweep_task(spec)(shard=shard) == {"status": "disabled"}


@pytest.mark.parametrize("shard", [-1, 16, 2**40, True, 1.0, "1", [1], {"a": 1}])
def test_a_shard_that_is_none_is_refused(shard: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "get_settings", lambda: Settings(shards=16))
    monkeypatch.setattr(task, "process_parts", untouchable)
    assert task.sweep_task(WORKERS[0])(shard=shard) == {"status": "refused"}
