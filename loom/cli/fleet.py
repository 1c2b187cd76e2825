"""`loom status` and `loom drain`: what waits, and waiting for it."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from loom.cli.session import (
    data_dir_option,
    err,
    json_option,
    open_session,
    out,
    print_json,
    progress_bar,
    reports_errors,
)
from loom_core.fleet_state import snapshot

POLL_S = 0.5


@click.command("status")
@data_dir_option
@json_option
@reports_errors
def status_command(data_dir: Path | None, as_json: bool) -> None:
    """One line a worker: its gate, its last run, what waits and for how long, failures by state."""
    session = open_session(data_dir)
    workers = [each.model_dump(mode="json") for each in snapshot(session.store, session.settings)]
    if as_json:
        print_json({"workers": workers})
        return
    table = Table("worker", "gate", "last run", "waiting", "oldest", "failures", box=None)
    for each in workers:
        failures = ", ".join(f"{count} {state}" for state, count in sorted(each["failures"].items()) if count)
        table.add_row(
            each["worker"],
            "on" if each["enabled"] else "off",
            (each["last_run"] or "never")[:19].replace("T", " "),
            str(each["backlog"]),
            _age(each["oldest_age_s"]),
            failures or "none",
        )
    out.print(table)


@click.command("drain")
@click.option(
    "--timeout", default=600.0, show_default=True, type=click.FloatRange(0), help="Seconds to wait."
)
@data_dir_option
@json_option
@reports_errors
def drain_command(timeout: float, data_dir: Path | None, as_json: bool) -> None:
    """Wait until no row awaits extraction, projection or a close; at the timeout print what is left, exit 1."""
    session = open_session(data_dir)
    left = wait_until_drained(session, timeout)
    if as_json:
        print_json({"drained": not left, "left": left})
    else:
        out.print("drained" if not left else "still waiting: " + describe_left(left))
    if left:
        err.print("`loom status` shows when each worker ran last, `loom doctor` what to do")
        sys.exit(1)


def wait_until_drained(session: Any, timeout_s: float) -> dict[str, int]:
    """Waits until the workers that make the graph have nothing left; what each has left at the timeout."""
    deadline = time.monotonic() + timeout_s
    most = 0
    with progress_bar("drain", None) as advance:
        done = 0
        while True:
            left = {
                each.worker: each.backlog
                for each in snapshot(session.store, session.settings)
                if each.backlog and each.worker != "entity_communities"
            }
            total = sum(left.values())
            most = max(most, total + done)
            advance(most - total - done, most)
            done = most - total
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(POLL_S)


def describe_left(left: dict[str, int]) -> str:
    """What each worker has left, for a person."""
    return ", ".join(f"{count} for {worker}" for worker, count in sorted(left.items()))


def _age(seconds: float | None) -> str:
    if seconds is None:
        return ""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
