from __future__ import annotations

import uuid

import pytest

from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tenancy import Scope
from tests.support.graph_rows import embedded_store
from tests.support.loom import Loom


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return embedded_store(tmp_path_factory.getbasetemp() / "clickhouse")


@pytest.fixture
def loom(store: Store) -> Loom:
    return Loom(store, Scope("org", uuid.uuid4().hex), Settings())


@pytest.fixture
def other_tenant(store: Store) -> Loom:
    return Loom(store, Scope("another org", uuid.uuid4().hex), Settings())
