"""`loom migrate`, `mint-token`, `mcp`, `faults`: setting an installation up."""

from __future__ import annotations

from pathlib import Path

import click

from loom.cli.session import data_dir_option, json_option, open_session, out, print_json, reports_errors
from loom_core import faults
from loom_core.errors import Invalid
from loom_core.settings import load_settings
from loom_core.storage.migrate import migrate


@click.command("migrate")
@data_dir_option
@json_option
@reports_errors
def migrate_command(data_dir: Path | None, as_json: bool) -> None:
    """Apply the migrations that are missing; safe to run twice, and by two processes at once."""
    session = open_session(data_dir)
    applied = migrate(session.store, session.settings)
    if as_json:
        print_json({"applied": applied})
    else:
        out.print(f"applied {', '.join(applied)}" if applied else "up to date")


@click.command("mint-token")
@click.option("--org", required=True)
@click.option("--role", required=True, type=click.Choice(["viewer", "writer", "admin"]))
@click.option("--namespace", default=None, help="Bind the token to one namespace.")
@click.option(
    "--ttl", default=86_400, show_default=True, type=click.IntRange(1), help="Seconds it is good for."
)
@json_option
@reports_errors
def mint_token_command(org: str, role: str, namespace: str | None, ttl: int, as_json: bool) -> None:
    """Print a token signed with LOOM_AUTH_SECRET."""
    from loom_core.server.auth import mint

    settings = load_settings()
    if settings.auth_secret is None:
        raise Invalid(
            "no_auth_secret", "LOOM_AUTH_SECRET is not set: this installation takes calls without tokens"
        )
    token = mint(settings, org=org, role=role, namespace=namespace, ttl_s=ttl)  # type: ignore[arg-type]
    if as_json:
        print_json({"token": token, "org": org, "role": role, "namespace": namespace, "ttl_s": ttl})
    else:
        click.echo(token)


@click.command("mcp")
@data_dir_option
@reports_errors
def mcp_command(data_dir: Path | None) -> None:
    """Serve MCP over stdin and stdout, on the stack that is found."""
    from loom.cli.session import stack_settings
    from loom_core.server.mcp_stdio import serve_stdio

    serve_stdio(stack_settings(data_dir))


@click.command("faults")
@json_option
def faults_command(as_json: bool) -> None:
    """List the points where a test can make the code raise, exit or hang (LOOM_FAULT, with LOOM_TESTING=1)."""
    if as_json:
        print_json(faults.POINTS)
        return
    for point, when in faults.POINTS.items():
        out.print(f"{point:28} {when}", markup=False)
    out.print(f"{'store:insert_<table>':28} before each INSERT into that table", markup=False)
