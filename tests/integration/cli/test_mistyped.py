"""What a mistyped command or namespace is answered with."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from loom.cli import main, session
from loom_core.settings import Settings
from tests.support.world import World


def test_a_mistyped_command_is_told_the_near_ones() -> None:
    done = CliRunner().invoke(main, ["stauts"])
    assert done.exit_code == 2
    assert "'stauts'" in done.output and "'status'" in done.output


def test_a_namespace_without_memories_is_named_beside_those_that_have_some(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.set("k", "one memory", ["ledger"])
    opened = session.Session(Settings(), world.store)
    assert session.scope_of(opened, world.scope.org, world.scope.namespace) == world.scope
    assert not capsys.readouterr().err
    session.scope_of(opened, "acme", "mistyped")
    said = capsys.readouterr().err
    assert "acme/mistyped holds no memory" in said
