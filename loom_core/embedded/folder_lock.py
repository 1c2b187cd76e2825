"""A data folder has one owner. The lock is the kernel's: it goes with its holder, however that one dies."""

from __future__ import annotations

import fcntl
import os
import re
from pathlib import Path
from types import TracebackType


class FolderInUse(Exception):
    """Another running process owns the data folder; the message names the folder and the process id.

    `owner` is that id, None where it is not known.
    """

    def __init__(self, folder: Path, owner: int | None) -> None:
        named = "an unknown pid" if owner is None else f"pid {owner}"
        super().__init__(f"data folder owned by another running process: {folder} belongs to {named}")
        self.owner = owner


def require_closed_engine(folder: Path) -> None:
    """Look at the engine's own lock file, which a client in its own process holds without this module.

    Raises `FolderInUse`.
    """
    try:
        status = (folder / "status").open(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    with status:
        try:
            fcntl.flock(status, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            found = re.search(r"PID: (\d+)", status.read())
            raise FolderInUse(folder, int(found[1]) if found else None) from None


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
            owner = os.pread(self._fd, 32, 0).strip()
            os.close(self._fd)
            raise FolderInUse(folder, int(owner) if owner.isdigit() else None) from None
        except BaseException:
            os.close(self._fd)
            raise
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)

    def fileno(self) -> int:
        """The open lock; a process that inherits it holds the lock too."""
        return self._fd

    def close(self) -> None:
        """Give the folder up. The file stays: unlinking it could unlock a successor's."""
        os.close(self._fd)

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
