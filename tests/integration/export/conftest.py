from __future__ import annotations

import pytest

from loom_core.storage.store import Store
from tests.support.graph_rows import GraphRows, embedded_store


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return embedded_store(tmp_path_factory.getbasetemp() / "clickhouse")


@pytest.fixture
def graph(store: Store) -> GraphRows:
    """An empty namespace of its own."""
    return GraphRows(store)
