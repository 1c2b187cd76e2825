"""The name of a process that holds a lease, from which its neighbours can tell whether it still lives."""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path

SEPARATOR = "|"


@cache
def _here() -> str:
    """This machine as far as process ids go: host name, and the process namespace of a container."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}{SEPARATOR}{namespace}"


def this_process() -> str:
    """The name of the calling process."""
    pid = os.getpid()
    return f"{_here()}{SEPARATOR}{pid}{SEPARATOR}{_started(pid)}"


def is_gone(name: str) -> bool:
    """Whether the process of that name is known to have ended.

    False for a process of another machine: nothing is known of it, and its lease has to run out.
    """
    here, _, process = name.rpartition(SEPARATOR)[0].rpartition(SEPARATOR)
    started = name.rpartition(SEPARATOR)[2]
    if here != _here() or not process.isdigit():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return _started(int(process)) != started or _is_zombie(int(process))


def _stat(pid: int) -> list[str]:
    """The fields of /proc/<pid>/stat after the command's name; empty where there is no such file."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _started(pid: int) -> str:
    """When the process started, in ticks since boot: tells a reused process id from the old one."""
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else ""


def _is_zombie(pid: int) -> bool:
    return _stat(pid)[:1] == ["Z"]
