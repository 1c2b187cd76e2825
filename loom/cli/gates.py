"""A command for a worker whose gate is off refuses and names the setting; `--force` runs it (D46)."""

from __future__ import annotations

import click

from loom.cli.session import F
from loom_core.errors import Conflict
from loom_core.fleet_state import GATES, gate_is_on
from loom_core.settings import Settings


def force_option(command: F) -> F:
    """`--force`."""
    return click.option("--force", is_flag=True, help="Run although the worker's gate is off.")(command)


def require_gate(settings: Settings, worker: str, force: bool) -> None:
    """Raises `Conflict` naming the setting that turns `worker` on, unless forced."""
    if not force and not gate_is_on(settings, worker):
        setting = f"LOOM_{GATES[worker].upper()}"
        raise Conflict("gate_off", f"{worker} is off: set {setting}=true, or give --force to run it once")
