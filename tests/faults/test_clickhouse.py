"""ClickHouse dies, freezes, refuses, answers nothing, or has no room: what it said was landed is, and counts once."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from pydantic import SecretStr

from loom_core.errors import Unavailable
from loom_core.projection import failures
from loom_core.storage.store import Store
from tests.support.clickhouse_proxy import DROP_INSERTS, PASS, UNAVAILABLE, Proxy, proxy_before
from tests.support.fleet import Fleet
from tests.support.fleet_fixtures import bulk, tagged
from tests.support.recovery import recovered
from tests.support.servers import wait_until
from tests.support.world import World

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(600)]

RECEIVE_TIMEOUT_S = 5
AWAY_S = 4.0


class Writer:
    """Writes pieces of five rows one after the other, each again and again until it is taken."""

    def __init__(self, world: World, start: int) -> None:
        self._world, self._next = world, start
        self.refused: list[str] = []
        self.taken = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)  # a test that fails leaves it
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            while not self._sent(self._next):
                time.sleep(0.2)
            self._next += 5
            self.taken += 5

    def _sent(self, start: int) -> bool:
        try:
            bulk(self._world, 5, start)
        except Unavailable as error:
            self.refused.append(error.code)
            return False
        return True

    def wait_for_trouble(self) -> None:
        """Until a piece was refused."""
        wait_until(lambda: bool(self.refused), "the writer met the trouble")

    def finish(self) -> int:
        """How many rows it wrote."""
        self._stop.set()
        self._thread.join(300)
        return self.taken


@contextmanager
def killed(fleet: Fleet, proxy: Proxy) -> Iterator[None]:
    with fleet.clickhouse_killed():
        yield


@contextmanager
def frozen(fleet: Fleet, proxy: Proxy) -> Iterator[None]:
    os.kill(fleet.clickhouse.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(fleet.clickhouse.process.pid, signal.SIGCONT)


@contextmanager
def refusing(fleet: Fleet, proxy: Proxy) -> Iterator[None]:
    proxy.mode = UNAVAILABLE
    yield
    proxy.mode = PASS


@contextmanager
def dropping(fleet: Fleet, proxy: Proxy) -> Iterator[None]:
    proxy.mode = DROP_INSERTS
    yield
    assert proxy.dropped
    proxy.mode = PASS


Trouble = Callable[[Fleet, Proxy], AbstractContextManager[None]]


@pytest.fixture
def behind_proxy(fleet: Fleet) -> Iterator[tuple[Proxy, World]]:
    """A proxy that writer and workers reach the engine through, and a namespace written to through it."""
    with proxy_before(fleet.clickhouse.url) as proxy:
        own = {"clickhouse_url": SecretStr(proxy.url), "clickhouse_receive_timeout_s": RECEIVE_TIMEOUT_S}
        settings = fleet.settings(projection_retry_base_delay_s=0).model_copy(update=own)
        store = Store(settings)
        yield proxy, World(store, settings)
        store.close()


@pytest.mark.parametrize(
    ("fault", "trouble"),
    [
        ("clickhouse_killed", killed),
        pytest.param("clickhouse_drops", dropping, marks=pytest.mark.nightly),
        pytest.param("clickhouse_frozen", frozen, marks=pytest.mark.nightly),
        pytest.param("clickhouse_refuses", refusing, marks=pytest.mark.nightly),
    ],
)
def test_trouble_with_clickhouse_costs_a_delay_only(
    fleet: Fleet, town: World, behind_proxy: tuple[Proxy, World], fault: str, trouble: Trouble
) -> None:
    """D35. Neither does a row spend a try by it."""
    proxy, writing = behind_proxy
    world = World(town.store, town.settings, writing.scope)
    fleet.environment |= {
        "LOOM_LLM_PROVIDER": "spacy", "LOOM_ENTITY_EXTRACT_BATCH": "4", "LOOM_CLICKHOUSE_URL": proxy.url,
        "LOOM_CLICKHOUSE_RECEIVE_TIMEOUT_S": str(RECEIVE_TIMEOUT_S),
    }  # fmt: skip
    worker, beat = fleet.worker(), fleet.beat()
    bulk(world, 20)
    wait_until(lambda: tagged(world) >= 4, "it works")
    writer = Writer(writing, 20)
    wait_until(lambda: writer.taken > 0, "the writer writes")
    with trouble(fleet, proxy):
        writer.wait_for_trouble()
        time.sleep(AWAY_S)
    healed = time.monotonic()
    rows = 20 + writer.finish()
    recovered(fault, world, rows, healed)
    assert (worker.process.poll(), beat.process.poll()) == (None, None)
    every = [failures.OPEN, failures.DEAD, failures.RESOLVED, failures.STALE]
    assert max((each.attempts for each in failures.listed(world.store, world.scope, every)), default=0) <= 1
