"""A git history: each commit a memory, told as of its own date."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from loom.importing.entries import BadInput, Entry, Source

FORMAT = "%H%x00%cI%x00%B%x00%x00"
MAX_MESSAGE_CHARS = 100_000


def read_git(path: Path) -> Source:
    """Every commit reachable from HEAD, oldest first. Raises `BadInput` where there is no repository.

    The text ends with the commit's identifier, so that the extractor ties what it names to `commit:<sha>`.
    A shallow checkout gives the commits it has.
    """
    total = _git(path, "rev-list", "--count", "HEAD").strip()
    return Source(_commits(path), int(total))


def _commits(path: Path) -> Iterator[Entry]:
    command = ["git", "-C", str(path), "log", "--reverse", f"--format={FORMAT}", "HEAD"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as log:
        assert log.stdout is not None
        rest = ""
        while chunk := log.stdout.read(1 << 16):
            # A message may be in any encoding; what is not UTF-8 is replaced, never refused.
            *commits, rest = (rest + chunk.decode("utf-8", "replace")).split("\0\0\n")
            yield from map(_entry, commits)
        if log.wait() != 0:
            raise BadInput(f"git log of {path} ended with {log.returncode}")


def _entry(text: str) -> Entry:
    sha, date, message = text.split("\0", 2)
    body = message.replace("\0", " ").strip()[:MAX_MESSAGE_CHARS]
    return {
        "memory_key": f"commit/{sha}",
        "value": f"{body}\n\ncommit:{sha[:12]}",
        "valid_at": date,
        "tags": ["git"],
    }


def _git(path: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(path), *arguments], capture_output=True, text=True, check=True, errors="replace"
        )
    except FileNotFoundError as error:
        raise BadInput("git is not installed, or not on PATH") from error
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise BadInput(f"{path} is not a git repository with commits: {reason[0]}") from error
    return done.stdout
