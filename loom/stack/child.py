"""One child process: how it is started, seen to be ready, and ended with everything it started itself."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from loom.stack.parenthood import end_with

READY_FILE = "LOOM_READY_FILE"
"""Environment variable of a child that makes a file when it is ready: the file's path."""
LOG_LIMIT = 10 << 20
"""Bytes of a child's log before it is moved aside; one older file is kept."""
_TAIL_BYTES = 4096


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """What to run. What has the same `role` ends together; `is_ready` must return within seconds."""

    name: str
    role: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    is_ready: Callable[[], bool] = lambda: True
    start_timeout_s: float = 60.0
    stop_timeout_s: float = 15.0


class Child:
    """A running child, leader of a session and process group of its own.

    A terminal's Ctrl-C so reaches the supervisor only, and whatever a child starts can be ended with it.
    """

    def __init__(self, spec: ChildSpec, log: Path) -> None:
        self.spec = spec
        self.log = log
        rotate(log)
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                list(spec.command),
                env={**os.environ, **spec.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=end_with(os.getpid()),  # safe: the supervisor has one thread
            )

    @property
    def pid(self) -> int:
        """The child's process id, also that of its group."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while the child runs; after its end its exit code, and nothing is left of its group."""
        if self._process.returncode is None:
            # Not reaped yet, a dead leader keeps the group's id from being given to a stranger.
            if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                return None
            self.kill()
            self._process.wait()
        return self._process.returncode

    def terminate(self) -> None:
        """Ask the child, and only it, to end: it knows how to end what it started."""
        if self._process.returncode is None:
            os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End the whole group at once. Only before the end was seen by `exit_code`."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return  # all of it has ended
        except PermissionError:
            return  # macOS: only zombies are left


def rotate(log: Path) -> None:
    """Move a log's content aside where it is too long. The writer's file stays the same: it appends to it."""
    try:
        if log.stat().st_size <= LOG_LIMIT:
            return
    except FileNotFoundError:
        return
    shutil.copyfile(log, log.with_suffix(".log.1"))
    os.truncate(log, 0)


def last_lines(log: Path, count: int) -> list[str]:
    """The end of a log, for a message."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return file.read().decode("utf-8", "replace").splitlines()[-count:]
    except FileNotFoundError:
        return []
