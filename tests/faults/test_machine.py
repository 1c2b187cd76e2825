"""The machine itself: its clock steps back, its disk fills, its code is of two versions at once."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from loom_core import clock
from loom_core.clock import SECOND
from loom_core.errors import Unavailable
from loom_core.storage.store import Store
from tests.support.fleet import Fleet, running_fleet
from tests.support.fleet_fixtures import bulk, tagged
from tests.support.recovery import recovered
from tests.support.servers import wait_until
from tests.support.world import World

pytestmark = [pytest.mark.fleet, pytest.mark.nightly, pytest.mark.timeout(600)]

HOUR_S = 3600
SHIFTED = f"""
import time
_ns, _s = time.time_ns, time.time
time.time_ns = lambda: _ns() - {HOUR_S} * 10**9
time.time = lambda: _s() - {HOUR_S}
"""
"""What a process imports at its start whose clock is an hour back."""


def test_a_clock_that_steps_back_loses_nothing(
    fleet: Fleet, town: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.environment |= {"LOOM_LLM_PROVIDER": "spacy", "LOOM_ENTITY_EXTRACT_BATCH": "4"}
    (tmp_path / "sitecustomize.py").write_text(SHIFTED)
    town.set("home", "first", E=[], R=[["user", "live_in", "london"]])
    bulk(town, 20)
    before = fleet.worker("--hostname", "before@%h")
    fleet.beat()
    wait_until(lambda: tagged(town) >= 4, "it works")
    since = time.monotonic()
    now = clock.now
    monkeypatch.setattr(clock, "now", lambda: now() - HOUR_S * SECOND)
    town.set("home", "second", E=[], R=[["user", "live_in", "paris"]])
    assert town.get("home").value == "second"
    bulk(town, 20, 20)
    fleet.worker("--hostname", "after@%h", PYTHONPATH=str(tmp_path))
    before.stop()
    recovered("clock_back", town, 40, since)
    monkeypatch.undo()
    assert town.objects() == {"paris": 1}, "as of the right time"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=300m", "none", str(folder)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_disk_that_fills_refuses_writes_and_loses_none(small_disk: Path) -> None:
    with running_fleet(small_disk) as fleet:
        fleet.environment = {
            "LOOM_LLM_PROVIDER": "spacy", "LOOM_ENTITY_EXTRACT_INTERVAL_S": "1", "LOOM_PROJECTION_RETRY_INTERVAL_S": "1",
            "LOOM_PROJECTION_RETRY_BASE_DELAY_S": "0", "LOOM_PROJECTION_RETRY_ORPHAN_AFTER_S": "0",
        }  # fmt: skip
        settings = fleet.settings(projection_retry_base_delay_s=0)
        town = World(Store(settings), settings)
        worker, beat = fleet.worker(), fleet.beat()
        bulk(town, 20)
        wait_until(lambda: tagged(town) >= 4, "it works")
        ballast = small_disk / "ballast"
        refused = 0
        for piece in range(5):
            fill(ballast)  # again: what the engine merged has made room
            try:
                bulk(town, 5, 20 + 5 * piece)
            except Unavailable:
                refused += 1
        assert refused, "a write met the full disk"
        ballast.unlink()
        since = time.monotonic()
        for piece in range(5):
            bulk(town, 5, 20 + 5 * piece)
        recovered("disk_full", town, 45, since)
        assert (worker.process.poll(), beat.process.poll()) == (None, None)
        town.store.close()


def fill(ballast: Path) -> None:
    """Until not even a page fits."""
    with ballast.open("ab", buffering=0) as file:
        for size in (1 << 20, 4096):
            with suppress(OSError):
                while True:
                    file.write(b"x" * size)


def test_two_versions_of_the_code_share_the_queues(fleet: Fleet, town: World, tmp_path: Path) -> None:
    """As in a rolling deploy: the next version reads by other rules, and its messages say more."""
    root = Path(__file__).parents[2]
    for package in ("loom_core", "workers"):
        shutil.copytree(root / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    replace(
        tmp_path / "loom_core/extraction/local/extractor.py", 'RULES_VERSION = "', 'RULES_VERSION = "next-'
    )
    replace(tmp_path / "loom_core/canonical/lexicon.py", 'LEXICON_VERSION = "', 'LEXICON_VERSION = "9')
    replace(
        tmp_path / "workers/task.py",
        "def sweep(shard: int | None = None)",
        "def sweep(shard: int | None = None, hint: str = '')",
    )
    replace(
        tmp_path / "workers/wake.py", 'kwargs={"shard": shard}', 'kwargs={"shard": shard, "hint": "next"}'
    )
    fleet.environment |= {
        "LOOM_LLM_PROVIDER": "spacy",
        "LOOM_ENTITY_EXTRACT_BATCH": "4",
        "LOOM_TICK_BUDGET_S": "4",
    }
    since = time.monotonic()
    bulk(town, 30)
    old = fleet.worker("--hostname", "old@%h")
    fleet.beat()
    wait_until(lambda: tagged(town) >= 4, "the old one works")
    fleet.worker("--hostname", "next@%h", code=tmp_path)
    rows = 30
    while len(versions(town)) < 2:
        assert time.monotonic() - since < 120, "both read rows"
        bulk(town, 4, rows)
        rows += 4
        time.sleep(0.5)
    assert old.process.poll() is None
    assert old.stop() == 0
    bulk(town, 10, rows)
    recovered("two_versions", town, rows + 10, since)


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text, (file, old)
    file.write_text(text.replace(old, new))


def versions(world: World) -> set[str]:
    """Of the rules that rows were read by."""
    rows = world.store.rows(
        "SELECT DISTINCT prompt_version FROM loom.memory_extractions FINAL WHERE org = {org:String} "
        "AND namespace = {namespace:String}",
        **world.names,
    )
    return {version for (version,) in rows}
