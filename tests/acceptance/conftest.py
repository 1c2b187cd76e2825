"""One stack for all tests of a process: started once, by the command that a person types."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.stack import HttpWorld, Stack, running_stack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("stack") / "data"
    environment = {
        "LOOM_LLM_PROVIDER": "spacy",
        "LOOM_PROJECTION_RETRY_ORPHAN_AFTER_S": "2",
        "LOOM_PROJECTION_RETRY_BASE_DELAY_S": "1",
        "LOOM_PROJECTION_RETRY_INTERVAL_S": "1",
    }
    with running_stack(folder, **environment) as stack:
        yield stack


@pytest.fixture
def space(stack: Stack) -> HttpWorld:
    """An empty namespace."""
    return stack.namespace()
