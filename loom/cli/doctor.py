"""`loom doctor`: checks an installation and says what to do."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from loom.cli.session import data_dir_option, json_option, open_session, out, print_json, reports_errors
from loom_core.doctor import BAD, examine


@click.command("doctor")
@data_dir_option
@json_option
@reports_errors
def doctor_command(data_dir: Path | None, as_json: bool) -> None:
    """Check stores, schema, clocks, limits and gates; exit 1 if something must be mended."""
    session = open_session(data_dir)
    findings = examine(session.store, session.settings)
    if as_json:
        print_json([finding._asdict() for finding in findings])
    else:
        for finding in findings:
            out.print(f"{finding.verdict:4}  {finding.what}: {finding.found}", markup=False)
            if finding.do:
                out.print(f"      → {finding.do}", markup=False)
    if any(finding.verdict == BAD for finding in findings):
        sys.exit(1)
