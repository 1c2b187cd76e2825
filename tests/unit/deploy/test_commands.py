"""What the deployment files run exists, takes these options, and reads only settings that there are."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import re
from pathlib import Path

import click
import pytest
from celery.bin.celery import celery

from loom.cli import main
from loom_core.settings import Settings
from tests.unit.deploy.files import DEPLOY, ROOT, RUNBOOKS, UNITS, YAML_FILES, commands
from workers.registry import WORKERS

COMMANDS = list(commands())
SETTINGS = {f"LOOM_{name.upper()}" for name in Settings.model_fields}
TEXTS = sorted(
    {*YAML_FILES, *UNITS, *RUNBOOKS, *DEPLOY.glob("*.md"), DEPLOY / "Dockerfile", ROOT / "Procfile"}
)


def parses(command: click.Command, words: list[str]) -> None:
    """Fails where the options do not parse; nothing is run."""
    while isinstance(command, click.Group):
        context = click.Context(command)
        found = command.get_command(context, words[0])
        assert found is not None, words
        command, words = found, words[1:]
    command.make_parser(click.Context(command, info_name=words and words[0])).parse_args(list(words))


@pytest.mark.parametrize("words", [pytest.param(words, id=where) for where, words in COMMANDS])
def test_a_command_exists_and_its_options_parse(words: list[str]) -> None:
    match words:
        case ["celery", "-A", "workers.app", *rest]:
            parses(celery, rest)
            for option, value in itertools.pairwise(rest):
                if option == "--queues" and value != "%i":
                    assert set(value.split(",")) <= {spec.queue for spec in WORKERS}
                if option == "--include":
                    assert importlib.util.find_spec(value)
                if option == "--scheduler":
                    module, attribute = value.split(":")
                    assert hasattr(importlib.import_module(module), attribute)
        case ["loom", *rest]:
            parses(main, rest)
        case ["python", "-m", module, *rest]:
            assert importlib.util.find_spec(module)
            assert set(rest[::2]) <= {"--host", "--port"}
        case ["python", "-c", text]:
            compile(text, "healthcheck", "exec")
        case _:
            pytest.fail(f"nothing checks {words}")


@pytest.mark.parametrize(
    ("group", "words"),
    [(celery, ["worker", "--queue-names", "x"]), (main, ["failures", "list", "--all-dead"])],
)
def test_an_option_that_does_not_exist_is_noticed(group: click.Command, words: list[str]) -> None:
    with pytest.raises(click.NoSuchOption):
        parses(group, words)


def test_every_queue_has_a_worker_in_compose_and_in_kubernetes() -> None:
    for place in ("compose", "Deployment"):
        served = {
            queue
            for where, words in COMMANDS
            if where.startswith(place) and "--queues" in words
            for queue in words[words.index("--queues") + 1].split(",")
        }
        assert served == {spec.queue for spec in WORKERS}, place


@pytest.mark.parametrize("file", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_setting_that_is_named_exists(file: Path) -> None:
    named = set(re.findall(r"(?<![A-Z_])LOOM_[A-Z_]*[A-Z]", file.read_text()))
    # The placeholder of the ACL file is replaced when Redis starts.
    assert named - {"LOOM_PASSWORD_SHA"} <= SETTINGS


@pytest.mark.parametrize("file", [*RUNBOOKS, *sorted(DEPLOY.glob("*.md"))], ids=lambda path: path.name)
def test_a_loom_command_in_a_runbook_parses(file: Path) -> None:
    for line in re.findall(r"`loom ([a-z][^`]*)`", file.read_text()):
        parses(main, line.split())
