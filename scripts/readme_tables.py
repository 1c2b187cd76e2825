"""Fills the README's generated tables: `python scripts/readme_tables.py`; with `--check` only compares.

A table stands between `<!-- name -->` and `<!-- /name -->`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

from loom_core.settings import Settings
from loom_core.settings_table import table as settings_table
from workers.registry import WORKERS

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tests.faults.outcomes import FAULTS, MEASURED  # noqa: E402  # found in the checkout only

README = ROOT / "README.md"


def fleet_table() -> str:
    """One row a worker, from the registry."""
    settings = Settings.model_construct()
    lines = ["| worker | does | gate | default | every |", "|---|---|---|---|---|"]
    for spec in WORKERS:
        gate = Settings.model_fields[spec.gate].default
        lines.append(
            f"| `{spec.name}` | {spec.summary} | `{spec.gate_variable}` | {'on' if gate else 'off'} "
            f"| {spec.interval_s(settings)} s |"
        )
    return "\n".join(lines)


def faults_table() -> str:
    """One row a fault of the fault suite, with the seconds until the fleet was whole again, as last measured."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    lines = ["| what dies | what happens | what brings it back | whole again |", "|---|---|---|---|"]
    for fault in FAULTS.values():
        times = measured[fault.name]
        lines.append(
            f"| {fault.dies} | {fault.happens} | {fault.back} | {times['median_s']:.0f} s after {fault.since} |"
        )
    return "\n".join(lines)


TABLES: dict[str, Callable[[], str]] = {
    "fleet": fleet_table,
    "settings": settings_table,
    "faults": faults_table,
}


def filled(text: str) -> str:
    """`text` with its tables as they should be. Raises `ValueError` for a table without its marks."""
    for name, table in TABLES.items():
        text, count = re.subn(
            rf"<!-- {name} -->.*?<!-- /{name} -->",
            lambda _, name=name, table=table: f"<!-- {name} -->\n{table()}\n<!-- /{name} -->",  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
        if count != 1:
            raise ValueError(f"README.md has {count} places for the table {name!r}")
    return text


def main() -> int:
    """Exit code 1 where `--check` finds a difference."""
    text = README.read_text(encoding="utf-8")
    if "--check" in sys.argv:
        return int(filled(text) != text)
    README.write_text(filled(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
