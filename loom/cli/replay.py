"""`loom replay`: supersession closes from their statements, projections from their rows."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from loom.cli.gates import force_option, require_gate
from loom.cli.session import (
    data_dir_option,
    json_option,
    open_session,
    out,
    print_json,
    reports_errors,
    scope_of,
    scope_options,
    stage_bars,
)
from loom_core import clock
from loom_core.projection.replay import replay_closes, replay_projections


@click.group("replay")
def replay_group() -> None:
    """Derive again what may have been missed; safe to run at any time, as often as you like."""


@replay_group.command("closes")
@click.option("--subject", default=None, help="Only this entity's slots.")
@click.option("--since", type=click.DateTime(), default=None, help="Only slots stated since then (UTC).")
@click.option("--dry-run", is_flag=True, help="Print what would change, write nothing.")
@scope_options
@data_dir_option
@force_option
@json_option
@reports_errors
def closes_command(
    subject: str | None, since: datetime | None, dry_run: bool, org: str | None, namespace: str | None,
    data_dir: Path | None, force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Replay supersession closes; says what changed, slot by slot."""
    session = open_session(data_dir)
    if not dry_run:
        require_gate(session.settings, "supersession_replay", force)
    scope = scope_of(session, org, namespace)
    with stage_bars() as report:
        changed = replay_closes(
            session.store, scope, subject, clock.micros(since) if since else 0, dry_run, report
        )
    if as_json:
        print_json({"changed": changed, "dry_run": dry_run})
        return
    for line in changed:
        out.print(line, markup=False)
    out.print(f"intervals that {'would change' if dry_run else 'changed'}: {len(changed)}")


@replay_group.command("projections")
@click.option("--key", default=None, help="Only this memory key.")
@click.option("--dry-run", is_flag=True, help="Print which rows differ, write nothing.")
@scope_options
@data_dir_option
@force_option
@json_option
@reports_errors
def projections_command(
    key: str | None, dry_run: bool, org: str | None, namespace: str | None, data_dir: Path | None, force: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Project rows again from the rows themselves."""
    session = open_session(data_dir)
    if not dry_run:
        require_gate(session.settings, "projection_retry", force)
    scope = scope_of(session, org, namespace)
    with stage_bars() as report:
        done = replay_projections(session.store, scope, key, dry_run, report)
    if as_json:
        print_json(
            {"keys": done.keys, "different": done.different, "failed": done.failed, "dry_run": dry_run}
        )
        return
    for name in done.different:
        out.print(name, markup=False)
    verb = "would change" if dry_run else "changed"
    out.print(f"{done.keys} keys compared, {len(done.different)} {verb}, {len(done.failed)} failed")
