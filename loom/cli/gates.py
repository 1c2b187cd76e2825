"""A command for a worker whose gate is off refuses and names the setting; `--force` runs it (D46)."""

from __future__ import annotations

import click

from loom.cli.session import F
from loom_core.errors import Conflict
from loom_core.settings import Settings


def force_option(command: F) -> F:
    """`--force`."""
    return click.option("--force", is_flag=True, help="Run although the worker's gate is off.")(command)


def require_gate(settings: Settings, worker: str, force: bool) -> None:
    """Raises `Conflict` naming the setting that turns `worker` on, unless forced."""
    if not force and not getattr(settings, f"{worker}_enabled"):
        setting = f"LOOM_{worker.upper()}_ENABLED"
        raise Conflict("gate_off", f"{worker} is off: set {setting}=true, or give --force to run it once")
