"""A supervised run in a data folder: one at a time, ended cleanly, with errors a person can act on."""

from __future__ import annotations

import errno
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from loom.stack.find import is_alive, remove_stack_file
from loom.stack.guard import Guard
from loom.stack.signals import Signals
from loom.stack.supervisor import ChildFailed, StopRequested, Supervisor
from loom_core.embedded.folder_lock import FolderInUse, FolderLock
from loom_core.errors import LoomError

_FREE_BYTES = 256 << 20
_LEFTOVERS_WAIT_S = 15.0


class RunFailed(Exception):
    """The run can't start; the message says why and names the port, folder or process."""


def run(folder: Path, start: Callable[[Supervisor], None]) -> int:
    """Let `start` start children, keep them running until SIGTERM or SIGINT, end them.

    Returns the exit code: 0 after a clean end, else 1, the reason on standard error.
    """
    try:
        return _run(folder, start)
    except (RunFailed, ChildFailed, FolderInUse) as error:
        say(f"error: {error}")
    except LoomError as error:
        say(f"error: {error.message}")
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        say(f"error: {'the disk is full: ' if full else ''}{error}")
    return 1


def say(message: str) -> None:
    """Tell a person, beside the standard output that programs read."""
    print(message, file=sys.stderr, flush=True)


def _run(folder: Path, start: Callable[[Supervisor], None]) -> int:
    with _lock(folder) as lock, Signals() as signals, Guard(lock.fileno()) as guard:
        _require_space(folder)
        supervisor = Supervisor(guard, signals, folder / "logs", say)
        try:
            start(supervisor)
            supervisor.watch()
        except StopRequested:
            say("stopping")
        finally:
            remove_stack_file(folder)
            clean = supervisor.stop()
    return 0 if clean else 1


def _lock(folder: Path) -> FolderLock:
    """The folder's lock. Where its owner was killed, wait until the guard has ended what it left behind."""
    deadline = time.monotonic() + _LEFTOVERS_WAIT_S
    while True:
        try:
            return FolderLock(folder, "up.lock")
        except FolderInUse as error:
            if error.owner is None or is_alive(error.owner) or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _require_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _FREE_BYTES:
        raise RunFailed(
            f"the disk is full: {free >> 20} MiB are free in {folder}, the stack needs {_FREE_BYTES >> 20}"
        )
