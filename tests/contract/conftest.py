"""The surface over services that answer each op's documented example."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.testclient import TestClient

from loom_core.server.app import build_app
from loom_core.server.auth import mint
from loom_core.settings import Settings
from tests.support.fake_services import FakeServices

SECRET = "a-secret-of-forty-characters-for-tests-0"


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("LOOM_")]:
        if name not in ("LOOM_SPEC_DIR", "LOOM_CASES_DIR"):
            monkeypatch.delenv(name)


@pytest.fixture
def services() -> FakeServices:
    return FakeServices()


@pytest.fixture
def client(services: FakeServices) -> Iterator[TestClient]:
    """A single-user server."""
    with TestClient(build_app(Settings(), services), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def tokens() -> Settings:
    """Settings of a server that asks for tokens."""
    return Settings(auth_secret=SECRET)


@pytest.fixture
def guarded(services: FakeServices, tokens: Settings) -> Iterator[TestClient]:
    """A server that asks for tokens."""
    with TestClient(build_app(tokens, services), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def bearer(tokens: Settings) -> Callable[..., dict[str, str]]:
    """Headers with a token."""

    def header(
        role: str = "admin", org: str = "dev", namespace: str | None = None, ttl_s: int = 60
    ) -> dict[str, str]:
        return {"authorization": f"Bearer {mint(tokens, org, role, namespace, ttl_s)}"}

    return header


@contextmanager
def listening(app: Starlette) -> Iterator[str]:
    """The app on a free port of this machine; its base URL."""
    # Named as TCP, so that the event loop turns Nagle's algorithm off for it.
    with socket.socket(proto=socket.IPPROTO_TCP) as port:
        port.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, args=([port],), daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            thread.join(0.01)
        yield f"http://127.0.0.1:{port.getsockname()[1]}"
        server.should_exit = True
        thread.join(10)
        assert not thread.is_alive(), "the server did not stop"


@pytest.fixture
def address(services: FakeServices) -> Iterator[str]:
    """A single-user server that listens."""
    with listening(build_app(Settings(), services)) as url:
        yield url


@pytest.fixture
def guarded_address(services: FakeServices, tokens: Settings) -> Iterator[str]:
    """A server that listens and asks for tokens."""
    with listening(build_app(tokens, services)) as url:
        yield url
