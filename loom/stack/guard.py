"""The guard: ends all children where the supervisor dies without doing so.

A process of its own that waits for the end of a pipe from the supervisor. It is told the children's process
groups (lines `+ID` and `-ID`), and it holds the data folder's lock until none of them is left, so that a new
stack can't start beside the rest of the old one. Run by its path: it imports the standard library only.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from types import TracebackType

_GRACE_S = 3.0
_POLL_S = 0.02


class Guard:
    """The supervisor's side. `lock_fd` is the open lock that the guard shares."""

    def __init__(self, lock_fd: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=(lock_fd,),
        )

    @property
    def pid(self) -> int:
        """The guard's process id."""
        return self._process.pid

    def add(self, group: int) -> None:
        """End this process group when the supervisor is gone."""
        self._tell(f"+{group}\n")

    def remove(self, group: int) -> None:
        """This process group has ended."""
        self._tell(f"-{group}\n")

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode())
        self._process.stdin.flush()

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def main() -> None:
    """Wait for the supervisor's end, then end what it left."""
    groups: set[int] = set()
    for line in sys.stdin:
        group = int(line[1:])
        if line.startswith("+"):
            groups.add(group)
        else:
            groups.discard(group)
    _signal(groups, signal.SIGTERM)
    deadline = time.monotonic() + _GRACE_S
    while groups and time.monotonic() < deadline:
        time.sleep(_POLL_S)
        groups = {group for group in groups if _exists(group)}
    _signal(groups, signal.SIGKILL)
    # Nothing survives that; but a container without an init keeps the dead as zombies for ever.
    deadline = time.monotonic() + _GRACE_S
    while groups and time.monotonic() < deadline:
        time.sleep(_POLL_S)
        groups = {group for group in groups if _exists(group)}


def _signal(groups: set[int], number: signal.Signals) -> None:
    for group in groups:
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            continue


def _exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    main()
