"""One stack for the tests of this folder, by the command that a person types; ended after them: idle it costs time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.stack import HttpWorld, Stack, running_stack


@pytest.fixture(scope="package")
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
