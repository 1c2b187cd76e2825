"""The command `loom up`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from loom.stack.up import UpOptions, up


@click.command("up")
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="LOOM_DATA_DIR",
    default=Path(".loom"),
    show_default=True,
    help="Folder of stores, logs and stack.json.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=7777, show_default=True, help="0: a free one.")
@click.option("--workers", type=click.IntRange(0, 64), default=1, show_default=True, help="Celery workers.")
@click.option("--no-fleet", is_flag=True, help="Stores and server only: no workers, no beat.")
def up_command(data_dir: Path, port: int, workers: int, no_fleet: bool) -> None:
    """Run the whole stack on this machine until SIGTERM or Ctrl-C.

    Embedded ClickHouse and Redis unless LOOM_CLICKHOUSE_URL and LOOM_REDIS_URL name real ones; migrations;
    the HTTP server; Celery workers and beat. Prints `ready http://127.0.0.1:PORT` once all of it answers.
    """
    sys.exit(up(UpOptions(data_dir, port, workers, fleet=not no_fleet)))
