"""The embedded engine in this process, once a test process; every test has a namespace of its own."""

from __future__ import annotations

import pytest

from loom_core.settings import Settings
from loom_core.storage.store import Store
from tests.support.graph_rows import embedded_store
from tests.support.world import World


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return embedded_store(tmp_path_factory.getbasetemp() / "clickhouse")


@pytest.fixture
def world(store: Store) -> World:
    """An empty namespace, written to as the server's services would."""
    return World(store, Settings())
