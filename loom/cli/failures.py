"""`loom failures`: the failure log, and putting what is dead back to work."""

from __future__ import annotations

import sys
from dataclasses import asdict
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
    reports_errors,
    scope_of,
    scope_options,
)
from loom_core import clock
from loom_core.projection import failures

STATES = (failures.OPEN, failures.DEAD, failures.RESOLVED, failures.STALE)


@click.group("failures")
def failures_group() -> None:
    """What failed to project or to be extracted: open (will be tried), dead (given up), resolved, stale."""


@failures_group.command("list")
@click.option("--state", "states", multiple=True, type=click.Choice(STATES), help="Default: open and dead.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 100_000))
@scope_options
@data_dir_option
@json_option
@reports_errors
def list_command(
    states: tuple[str, ...],
    limit: int,
    org: str | None,
    namespace: str | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Failures, the oldest first."""
    session = open_session(data_dir)
    scope = scope_of(session, org, namespace)
    found = failures.listed(session.store, scope, states or (failures.OPEN, failures.DEAD), limit)
    if as_json:
        print_json([_plain(each) for each in found])
        return
    if not found:
        out.print("no failures")
        return
    table = Table("id", "state", "projection", "key", "tries", "error", "next try", box=None)
    for each in found:
        when = (
            clock.instant(each.next_try_at).strftime("%m-%d %H:%M:%S") if each.state == failures.OPEN else ""
        )
        key = each.memory_key if len(each.memory_key) <= 40 else each.memory_key[:39] + "…"
        table.add_row(
            each.failure_id[:12], each.state, each.projection, key, str(each.attempts), each.error_class, when
        )
    out.print(table)


@failures_group.command("show")
@click.argument("id_", metavar="ID")
@scope_options
@data_dir_option
@json_option
@reports_errors
def show_command(
    id_: str, org: str | None, namespace: str | None, data_dir: Path | None, as_json: bool
) -> None:
    """All that is known of one failure; ID may be the first characters that `list` shows."""
    session = open_session(data_dir)
    scope = scope_of(session, org, namespace)
    found = [
        f for f in failures.listed(session.store, scope, STATES, 1_000_000) if f.failure_id.startswith(id_)
    ]
    if len(found) != 1:
        err.print(f"loom: {len(found)} failures have an id that starts with {id_}", markup=False)
        sys.exit(1)
    if as_json:
        print_json(_plain(found[0]))
        return
    for name, value in _plain(found[0]).items():
        out.print(f"{name:16} {value}", markup=False)


@failures_group.command("requeue")
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--all-dead", is_flag=True, help="Every dead failure of the namespace.")
@scope_options
@data_dir_option
@json_option
@reports_errors
def requeue_command(
    ids: tuple[str, ...],
    all_dead: bool,
    org: str | None,
    namespace: str | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Give failures all their tries again, due now."""
    if bool(ids) == all_dead:
        raise click.UsageError("name failures by ID, or give --all-dead")
    session = open_session(data_dir)
    scope = scope_of(session, org, namespace)
    known = failures.listed(session.store, scope, (failures.OPEN, failures.DEAD), 1_000_000)
    chosen = [f for f in known if (f.state == failures.DEAD if all_dead else f.failure_id.startswith(ids))]
    missing = [id_ for id_ in ids if not any(f.failure_id.startswith(id_) for f in chosen)]
    count = failures.requeue(session.store, scope, chosen)
    if as_json:
        print_json({"requeued": count, "not_found": missing})
    elif count or not missing:
        out.print(f"{count} requeued; projection_retry takes them at its next tick")
    if missing:
        err.print(f"loom: no open or dead failure {', '.join(missing)}", markup=False)
        sys.exit(1)


def _plain(failure: failures.Failure) -> dict[str, Any]:
    fields = asdict(failure)
    for name in ("as_of", "first_failed_at", "last_failed_at", "next_try_at"):
        fields[name] = clock.instant(fields[name]).isoformat()
    del fields["ver"]
    return fields
