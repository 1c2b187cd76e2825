"""The README says what is so: its tables are generated, its commands exist."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import click
import pytest

from loom.cli import COMMANDS, main
from tests.faults.outcomes import FAULTS

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LOOM_COMMANDS = sorted(set(re.findall(r"`(?:\.venv/bin/)?loom ([a-z][^`]*)`", README)))


def test_the_generated_tables_are_up_to_date() -> None:
    filled = runpy.run_path(str(ROOT / "scripts" / "readme_tables.py"))["filled"]
    assert filled(README) == README, "run: python scripts/readme_tables.py"


def test_every_fault_of_the_table_is_injected_by_a_test() -> None:
    tests = [*(ROOT / "tests/faults").glob("test_*.py"), ROOT / "tests/integration/stack/test_up.py"]
    text = "".join(path.read_text(encoding="utf-8") for path in tests)
    assert not [name for name in FAULTS if f'"{name}"' not in text]


@pytest.mark.parametrize("line", LOOM_COMMANDS)
def test_a_command_in_the_readme_parses(line: str) -> None:
    words = line.split()
    command: click.Command | None = main.get_command(click.Context(main), words[0])
    assert command is not None, f"no command {words[0]}"
    rest = words[1:]
    while isinstance(command, click.Group) and rest:
        command = command.get_command(click.Context(command), rest[0])
        assert command is not None, line
        rest = rest[1:]
    options = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in rest if word.startswith("-")} <= options, line


def test_every_command_has_help() -> None:
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None and (command.help or "").strip(), name


def test_make_targets_in_the_readme_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:`|^)make ([a-z-]+)", README, re.MULTILINE)) <= targets
