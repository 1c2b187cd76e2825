"""`loom import` by the command itself: real histories, files that break off, folders that are none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.stack import HttpWorld, Stack

ROOT = Path(__file__).resolve().parents[2]
CASES = Path(os.environ.get("LOOM_CASES_DIR", ROOT.parent / "shared" / "cases"))
MAKE_HISTORY = CASES.parent / "check" / "make-history"
LINES, BROKEN_AT = (10_000, 7_000) if os.environ.get("LOOM_NIGHTLY") else (1_000, 700)


def run(stack: Stack, space: HttpWorld, kind: str, path: Path) -> subprocess.CompletedProcess[str]:
    return stack.loom("import", kind, str(path), "--org", "dev", "--namespace", space.name, "--json")


def counts(done: subprocess.CompletedProcess[str]) -> tuple[int, int, int]:
    answer = json.loads(done.stdout)
    return answer["written"], answer["unchanged"], len(answer["refused"])


def git(*arguments: str, **more: Any) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", *arguments], check=True, **more
    )


def test_a_file_that_breaks_off_is_in_up_to_there_and_the_next_run_goes_on(
    stack: Stack, space: HttpWorld, tmp_path: Path
) -> None:
    """The seven thousandth of ten thousand lines in the nightly form."""
    file = tmp_path / "rows.jsonl"
    lines = [
        json.dumps({"memory_key": f"row/{n}", "value": f"text {n}", "entities": []})
        for n in range(1, LINES + 1)
    ]
    whole = "\n".join(lines) + "\n"
    lines[BROKEN_AT - 1] = lines[BROKEN_AT - 1][:20]
    file.write_text("\n".join(lines) + "\n")

    broken = run(stack, space, "jsonl", file)
    assert broken.returncode == 1
    assert f"line {BROKEN_AT}" in broken.stderr
    assert counts(broken) == (BROKEN_AT - 1, 0, 0)
    assert space.call("memory.get", memory_key=f"row/{BROKEN_AT - 1}")["found"] is True
    assert space.call("memory.get", memory_key=f"row/{BROKEN_AT}")["found"] is False

    file.write_text(whole)
    mended = run(stack, space, "jsonl", file)
    assert mended.returncode == 0, mended.stderr
    assert counts(mended) == (LINES - BROKEN_AT + 1, BROKEN_AT - 1, 0)
    assert space.call("memory.get", memory_key=f"row/{LINES}")["version"] == 1


def test_a_folder_that_is_no_repository_is_named(stack: Stack, space: HttpWorld, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    git("init", "-q", str(empty))
    for path in (tmp_path, tmp_path / "absent", empty):
        done = run(stack, space, "git", path)
        assert done.returncode == 1
        assert str(path) in done.stderr and "Traceback" not in done.stderr


def test_a_shallow_checkout_gives_the_commits_it_has(stack: Stack, space: HttpWorld, tmp_path: Path) -> None:
    whole, shallow = tmp_path / "whole", tmp_path / "shallow"
    git("init", "-q", str(whole))
    for number in range(5):
        git(
            "-C",
            str(whole),
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            f"Teach the Redis transport step {number}",
        )
    git("clone", "-q", "--depth", "2", whole.as_uri(), str(shallow))
    assert counts(run(stack, space, "git", shallow)) == (2, 0, 0)
    assert counts(run(stack, space, "git", whole)) == (3, 2, 0)


@pytest.mark.skipif(not MAKE_HISTORY.exists(), reason="no real history beside this repository")
def test_a_real_history_becomes_a_graph_and_importing_it_again_adds_nothing(
    stack: Stack, space: HttpWorld, tmp_path: Path
) -> None:
    history = tmp_path / "history"
    subprocess.run(
        [sys.executable, str(MAKE_HISTORY), str(history), "--commits", "60"], check=True, capture_output=True
    )
    assert counts(run(stack, space, "git", history)) == (60, 0, 0)
    space.wait_until_drained(240)
    entities = space.call("namespace.taxonomy")["entities"]
    assert len(entities) > 30
    assert space.walk(entities[1]["entity"])
    assert counts(run(stack, space, "git", history)) == (0, 60, 0)
    space.wait_until_drained(240)
    assert space.call("namespace.taxonomy")["entities"] == entities
    verified = stack.loom("verify", "--org", "dev", "--namespace", space.name)
    assert verified.returncode == 0, verified.stdout
