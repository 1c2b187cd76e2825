"""Stand-in stacks, and what is left of them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.servers import STOP_TIMEOUT_S, wait_until

ROOT = Path(__file__).parents[3]


class StandIn:
    """A running stand-in stack in `folder`."""

    def __init__(self, folder: Path, *stages: list[dict[str, Any]]) -> None:
        self.folder = folder
        self.errors = folder.with_name(folder.name + ".err")
        command = [sys.executable, "-m", "tests.support.stand_in_stack", str(folder), json.dumps(stages)]
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True
            )

    def wait_ready(self) -> None:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("ready"), self.said()

    def said(self) -> str:
        return self.errors.read_text()

    def pids(self, name: str) -> list[int]:
        """The process ids that a child has had, oldest first."""
        path = self.folder / f"{name}.pids"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def events(self) -> list[str]:
        path = self.folder / "events"
        return path.read_text().splitlines() if path.exists() else []

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        return self.process.wait(STOP_TIMEOUT_S)

    def nothing_is_left(self) -> bool:
        """Whether no process works on the folder: children, what they started, and the guard name it."""
        return not processes_of(self.folder)


def processes_of(folder: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                named = str(folder).encode() in (entry / "cmdline").read_bytes()
                inside = Path(os.readlink(entry / "cwd")) == folder
                holds = any(os.readlink(fd).startswith(f"{folder}/") for fd in (entry / "fd").iterdir())
            except OSError:
                continue  # it has just ended
            if named or inside or holds:
                found.append(int(entry.name))
    return found


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[Callable[..., StandIn]]:
    started: list[StandIn] = []

    def start(*stages: list[dict[str, Any]], folder: Path | None = None) -> StandIn:
        started.append(StandIn(folder or tmp_path / "stack", *stages))
        return started[-1]

    yield start
    for stack in started:
        if stack.process.poll() is None:
            stack.process.kill()
            stack.process.wait()
        assert stack.process.stdout is not None
        stack.process.stdout.close()
        wait_until(stack.nothing_is_left, f"nothing is left in {stack.folder}", 15)
