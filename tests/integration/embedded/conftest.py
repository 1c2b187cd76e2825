from collections.abc import Iterator
from pathlib import Path

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client

from tests.support.servers import ServerProcess, clickhouse_owner


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with clickhouse_owner(tmp_path_factory.mktemp("owner") / "clickhouse") as server:
        yield server


def connect(server: ServerProcess, **options: object) -> Client:
    return clickhouse_connect.get_client(
        host="127.0.0.1", port=server.port, **{"autogenerate_session_id": False, **options}
    )


@pytest.fixture
def client(owner: ServerProcess) -> Iterator[Client]:
    client = connect(owner)
    yield client
    client.close()


@pytest.fixture
def table(client: Client, request: pytest.FixtureRequest) -> Iterator[str]:
    """An empty table of its own for each test."""
    name = f"t_{abs(hash(request.node.nodeid)):x}"
    client.command(
        f"CREATE TABLE {name} (k String, v UInt64, at DateTime64(6) DEFAULT now64(6)) ENGINE = MergeTree ORDER BY k "
        "SETTINGS non_replicated_deduplication_window = 1000"
    )
    yield name
    client.command(f"DROP TABLE {name} SYNC")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "clickhouse"
