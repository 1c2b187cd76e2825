"""What commands share: the stack they talk to, the scope they name, how they fail and how they print."""

from __future__ import annotations

import functools
import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from loom.stack.find import find_stack
from loom_core.errors import LoomError
from loom_core.settings import Settings, load_settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

F = TypeVar("F", bound=Callable[..., Any])

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Session:
    """The settings of the stack found, and its store."""

    settings: Settings
    store: Store


def data_dir_option(command: F) -> F:
    """`--data-dir`, for commands that find a local stack."""
    option = click.option(
        "--data-dir",
        type=click.Path(path_type=Path, file_okay=False),
        default=None,
        help="Data folder of a local stack (LOOM_DATA_DIR, else .loom).",
    )
    return option(command)


def scope_options(command: F) -> F:
    """`--org` and `--namespace`; both default to the install's (LOOM_ORG, LOOM_NAMESPACE)."""
    for name in ("namespace", "org"):
        command = click.option(f"--{name}", default=None, help=f"LOOM_{name.upper()} if not given.")(command)
    return command


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def open_session(data_dir: Path | None) -> Session:
    """The stack that the environment or the data folder names. Raises `LoomError` saying what to set."""
    settings = stack_settings(data_dir)
    # What the driver warns of comes as an error of ours as well.
    logging.getLogger("clickhouse_connect").setLevel(logging.ERROR)
    return Session(settings, Store(settings))


def stack_settings(data_dir: Path | None) -> Settings:
    """The environment's settings, completed by those that the stack that was found runs with."""
    found = find_stack(data_dir)
    own = load_settings().model_fields_set
    values = {name: value for name, value in found.settings.items() if name not in own}
    values |= {"clickhouse_url": found.clickhouse_url, "base_url": found.base_url}
    return Settings(**values, **({"redis_url": found.redis_url} if found.redis_url else {}))


def scope_of(session: Session, org: str | None, namespace: str | None) -> Scope:
    """The scope that options or settings name. One without a memory is told on stderr: it may be mistyped."""
    scope = Scope(org or session.settings.org, namespace or session.settings.namespace)
    if not session.store.rows(sql("overview.has_memories"), org=scope.org, namespace=scope.namespace):
        there = session.store.rows(sql("overview.namespaces"))
        names = ", ".join(f"{org}/{namespace}" for org, namespace in there) or "none yet"
        err.print(
            f"loom: {scope.org}/{scope.namespace} holds no memory; those that do: {names}", markup=False
        )
    return scope


def reports_errors(function: F) -> F:
    """Ends a command with exit code 1 and one line on stderr for an error that is ours."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except LoomError as error:
            err.print(f"loom: {error.message}", markup=False)
            sys.exit(1)

    return wrapper  # type: ignore[return-value]


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(value, default=_plain, ensure_ascii=False, indent=2))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is no JSON")


@contextmanager
def progress_bar(description: str, total: int | None) -> Iterator[Callable[[int, int | None], None]]:
    """A progress bar on stderr; yields `advance(by, total)`. Silent where stderr is no terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal) as bar:
        task = bar.add_task(description, total=total)

        def advance(by: int, total_now: int | None = None) -> None:
            if total_now is not None:
                bar.update(task, total=total_now)
            bar.advance(task, by)

        yield advance


@contextmanager
def stage_bars() -> Iterator[Callable[[str, int, int], None]]:
    """Progress of work in stages; yields `report(stage, done, total)`, one bar a stage."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal) as bar:
        tasks: dict[str, Any] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield report
