"""`loom verify`, `loom entity-export`, `loom graph`: the graph as a whole."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

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
from loom_core.errors import Invalid
from loom_core.projection.recanonicalise import recanonicalise
from loom_core.projection.verify import Report, repair, verify
from loom_core.tenancy import Scope


@click.command("verify")
@click.option("--repair", "mend", is_flag=True, help="Mend what differs, then compare again.")
@scope_options
@data_dir_option
@json_option
@reports_errors
def verify_command(
    mend: bool, org: str | None, namespace: str | None, data_dir: Path | None, as_json: bool
) -> None:
    """Compare sums, degrees, closes and orphans of the graph with the rows; exit 1 on a difference."""
    session = open_session(data_dir)
    scope = scope_of(session, org, namespace)
    with stage_bars() as progress:
        report = verify(session.store, scope, progress)
        if mend and not report.clean:
            report = repair(session.store, scope, report, progress)
    if as_json:
        print_json(_plain(report))
    else:
        _print(report, scope)
    if not report.clean:
        sys.exit(1)


def _plain(report: Report) -> dict[str, Any]:
    return {
        "memories": report.memories,
        "slots": report.slots,
        "differences": dict(sorted(report.differences.items())),
        "examples": report.examples,
        "repaired": report.repaired,
    }


def _print(report: Report, scope: Scope) -> None:
    compared = f"row versions: {report.memories}, pairs of subject and relation: {report.slots}"
    out.print(f"compared {scope.org}/{scope.namespace}: {compared}", markup=False)
    if report.clean:
        out.print("mended: no difference is left" if report.repaired else "no difference")
    for kind, count in sorted(report.differences.items()):
        out.print(f"{count} {kind}")
        for example in report.examples[kind]:
            out.print(f"    {example}", markup=False)
    if not report.clean and not report.repaired:
        out.print(
            "`loom verify --repair` mends this; rows that await a worker differ until `loom drain` is done"
        )


@click.command("entity-export")
@click.option("--format", "format_", type=click.Choice(["graphml", "jsonld"]), required=True)
@click.option("--all", "include_all", is_flag=True, help="Closed edges and triples too.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file; else stdout.")
@scope_options
@data_dir_option
@reports_errors
def export_command(
    format_: str, include_all: bool, output: Path | None, org: str | None, namespace: str | None,
    data_dir: Path | None,
) -> None:  # fmt: skip
    """Write the graph; the same graph gives the same bytes."""
    from loom_core.export import write_graphml, write_jsonld

    session = open_session(data_dir)
    write = write_graphml if format_ == "graphml" else write_jsonld
    try:
        opened = output.open("w", encoding="utf-8") if output else nullcontext(sys.stdout)
    except OSError as error:
        raise Invalid("output_not_writable", f"--output: {output}: {error.strerror}") from None
    with opened as file:
        write(session.store, scope_of(session, org, namespace), file, include_all)


@click.group("graph")
def graph_group() -> None:
    """Maintain stored nodes."""


@graph_group.command("recanonicalise")
@click.option("--dry-run", is_flag=True, help="Print which rows would move, write nothing.")
@scope_options
@data_dir_option
@json_option
@reports_errors
def recanonicalise_command(
    dry_run: bool, org: str | None, namespace: str | None, data_dir: Path | None, as_json: bool
) -> None:
    """Move stored nodes to where an alias or a new lexicon takes their names; goes on where it was stopped."""
    session = open_session(data_dir)
    with stage_bars() as progress:
        moved = recanonicalise(session.store, scope_of(session, org, namespace), dry_run, progress)
    if as_json:
        print_json({"keys": moved, "dry_run": dry_run})
        return
    for key in moved if dry_run else ():
        out.print(key, markup=False)
    out.print(f"{len(moved)} rows {'would move' if dry_run else 'moved'}")
