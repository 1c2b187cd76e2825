"""Where the stack is: from the environment, else from the `stack.json` that a running `loom up` keeps."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from loom_core.errors import Unavailable
from loom_core.settings import Settings, load_settings

STACK_FILE = "stack.json"
OWN_SETTINGS = {"clickhouse_url", "redis_url", "base_url", "data_dir", "testing", "fault"}
"""Settings that belong to one process, or are stated as addresses."""


@dataclass(frozen=True, slots=True)
class StackAddresses:
    """The stores and the server of a stack. `redis_url` is None where only ClickHouse is known."""

    clickhouse_url: str
    redis_url: str | None
    base_url: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What else its processes were started with, by the settings' names: a command judges by the same gates."""

    def environment(self) -> dict[str, str]:
        """The addresses as a child process expects them."""
        found = {"LOOM_CLICKHOUSE_URL": self.clickhouse_url, "LOOM_BASE_URL": self.base_url}
        if self.redis_url is not None:
            found["LOOM_REDIS_URL"] = self.redis_url
        return found


def find_stack(data_dir: Path | None = None, settings: Settings | None = None) -> StackAddresses:
    """The stack a command works on: each of `LOOM_CLICKHOUSE_URL`, `LOOM_REDIS_URL`, `LOOM_BASE_URL` if set,
    else what `stack.json` says in `data_dir`, else in `LOOM_DATA_DIR`, else in `.loom`.

    Raises `Unavailable` saying what to do where no ClickHouse is known.
    """
    settings = settings or load_settings()
    clickhouse = settings.clickhouse_url and settings.clickhouse_url.get_secret_value()
    redis = settings.redis_url and settings.redis_url.get_secret_value()
    stated = "base_url" in settings.model_fields_set
    if clickhouse and redis and stated:
        return StackAddresses(clickhouse, redis, settings.base_url)
    folder = data_dir or settings.data_dir
    running = _running_stack(folder)
    if clickhouse is None and running is None:
        raise Unavailable(
            "no_stack",
            f"no stack is running in {folder}: start one with `loom up --data-dir {folder}`, "
            "name its folder with --data-dir or LOOM_DATA_DIR, or set LOOM_CLICKHOUSE_URL",
        )
    found: Mapping[str, Any] = running or {}
    return StackAddresses(
        clickhouse or found["clickhouse_url"],
        redis or found.get("redis_url"),
        settings.base_url if stated else found.get("base_url", settings.base_url),
        found.get("settings", {}),
    )


def shared_settings(settings: Settings) -> dict[str, Any]:
    """The settings that were given, as JSON: without addresses and secrets, which have ways of their own."""
    given = settings.model_dump(mode="json", include=settings.model_fields_set - OWN_SETTINGS)
    return {
        name: value for name, value in given.items() if not isinstance(getattr(settings, name), SecretStr)
    }


def _running_stack(folder: Path) -> dict[str, Any] | None:
    """The stack file's content, unless the `loom up` that wrote it was killed and left it behind."""
    try:
        content = json.loads((folder / STACK_FILE).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        raise Unavailable("bad_stack_file", f"{folder / STACK_FILE} can't be read: {error}") from None
    return content if is_alive(int(content["pid"])) else None


def is_alive(pid: int) -> bool:
    """Whether a process with this id runs. One that has ended but was not waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True  # no Linux, where nothing tells: it may be alive
    return state.rpartition(")")[2].split()[0] != "Z"


def write_stack_file(folder: Path, addresses: StackAddresses, pids: Mapping[str, int]) -> None:
    """Write `stack.json`, whole or not at all; it may hold passwords of stores, so it is the owner's only."""
    content = {
        "pid": os.getpid(),
        "clickhouse_url": addresses.clickhouse_url,
        "redis_url": addresses.redis_url,
        "base_url": addresses.base_url,
        "settings": shared_settings(load_settings()),
        "pids": dict(pids),
    }
    draft = folder / f".{STACK_FILE}.{os.getpid()}"
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
        file.write("\n")
    draft.replace(folder / STACK_FILE)


def remove_stack_file(folder: Path) -> None:
    """Remove `stack.json`, if it is there."""
    (folder / STACK_FILE).unlink(missing_ok=True)
