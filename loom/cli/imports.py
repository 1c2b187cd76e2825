"""`loom import`: real input into memory rows; running it again adds nothing twice."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from loom.cli.session import (
    data_dir_option,
    err,
    json_option,
    out,
    print_json,
    progress_bar,
    reports_errors,
    scope_options,
    stack_settings,
)
from loom.client.agent import Agent
from loom.importing.entries import BadInput, Source
from loom.importing.git import read_git
from loom.importing.jsonl import read_jsonl
from loom.importing.markdown import read_markdown
from loom.importing.send import Imported, send
from loom_core.settings import Settings

READERS = {"git": read_git, "jsonl": read_jsonl, "markdown": read_markdown}


@click.group("import")
def import_group() -> None:
    """Import a git history, JSON lines or Markdown through a running server."""


def _command(kind: str, summary: str) -> click.Command:
    @click.command(kind, help=summary)
    @click.argument("path", type=click.Path(path_type=Path))
    @scope_options
    @data_dir_option
    @json_option
    @reports_errors
    def command(
        path: Path, org: str | None, namespace: str | None, data_dir: Path | None, as_json: bool
    ) -> None:
        settings = stack_settings(data_dir)
        try:
            done = import_source(settings, READERS[kind](path), kind, org, namespace)
        except BadInput as error:
            err.print(f"loom: {error}", markup=False)
            sys.exit(1)
        if as_json:
            print_json(
                {"written": done.written, "unchanged": done.unchanged, "refused": done.refused,
                 "broke_off": done.broke_off}
            )  # fmt: skip
        else:
            out.print(f"{done.written} rows written, {done.unchanged} unchanged, {len(done.refused)} refused")
        for line in done.refused[:10]:
            err.print(f"refused: {line}", markup=False)
        if done.broke_off:
            err.print(
                f"loom: {done.broke_off}; what came before it is in, mend it and run again", markup=False
            )
        if done.broke_off or done.refused:
            sys.exit(1)

    return command


def import_source(
    settings: Settings, source: Source, label: str, org: str | None = None, namespace: str | None = None
) -> Imported:
    """Imports a source through the server that the settings name, with a progress bar."""
    key = settings.api_key.get_secret_value() if settings.api_key else None

    async def run() -> Imported:
        async with Agent(
            org or settings.org, namespace or settings.namespace, "loom-import", base_url=settings.base_url,
            api_key=key,
        ) as agent:  # fmt: skip
            with progress_bar(f"import {label}", source.total) as advance:
                return await send(agent, source, advance)

    return asyncio.run(run())


import_group.add_command(_command("git", "Each commit of the repository at PATH becomes a memory."))
import_group.add_command(_command("jsonl", "Each line of the file at PATH is an entry of memory.set."))
import_group.add_command(
    _command("markdown", "Each section of the Markdown files under PATH becomes a memory.")
)
