"""A data folder has one owner. The lock is the kernel's: it goes with its holder, however that one dies."""

from __future__ import annotations

import fcntl
import os
import re
from pathlib import Path
from types import TracebackType


class FolderInUse(Exception):
    """Another running process owns the data folder; the message names the folder and the process id."""


def in_use(folder: Path, owner: str) -> FolderInUse:
    """The error, naming both."""
    return FolderInUse(f"data folder owned by another running process: {folder} belongs to pid {owner}")


def engine_owner(folder: Path) -> str | None:
    """The process id that the engine's own lock file names, if the lock is held now; None if it is free.

    Only needed for an engine that was opened without this module, e.g. by a client in its own process.
    """
    try:
        status = (folder / "status").open(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    with status:
        try:
            fcntl.flock(status, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            found = re.search(r"PID: (\d+)", status.read())
            return found[1] if found else "unknown"
    return None


class FolderLock:
    """Exclusive ownership of `folder`, held through the open file `folder/name` until closed.

    The file keeps the owner's process id for the message only. Raises `FolderInUse`, and `OSError` where the
    folder can't be made or written.
    """

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(self._fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._fd)
            raise in_use(folder, owner) from None
        except BaseException:
            os.close(self._fd)
            raise
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)

    def close(self) -> None:
        """Give the folder up. The file stays: unlinking it could unlock a successor's."""
        os.close(self._fd)

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
