"""kill -9 of one process in the middle of an import: the graph ends as that of a run that nobody disturbed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.support.commits import make_repository
from tests.support.servers import wait_until
from tests.support.stack import HttpWorld, Stack, running_stack

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(900)]

DRAIN_S = 600


@dataclass(frozen=True)
class History:
    """A repository, its commits, and what importing it gives when nobody disturbs it."""

    folder: Path
    commits: list[str]
    graph: dict[str, list[str]]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    environment = {
        "LOOM_LLM_PROVIDER": "spacy",
        "LOOM_ENTITY_EXTRACT_INTERVAL_S": "1",
        "LOOM_ENTITY_EXTRACT_BATCH": "16",
        "LOOM_PROJECTION_RETRY_INTERVAL_S": "1",
        "LOOM_PROJECTION_RETRY_BASE_DELAY_S": "0.5",
        "LOOM_PROJECTION_RETRY_ORPHAN_AFTER_S": "2",
        "LOOM_SUPERSESSION_REPLAY_INTERVAL_S": "1",
    }
    with running_stack(tmp_path_factory.mktemp("killed") / "data", **environment) as stack:
        yield stack


@pytest.fixture(scope="module")
def history(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> History:
    folder = tmp_path_factory.mktemp("history") / "repository"
    commits = make_repository(folder)
    undisturbed = stack.namespace()
    done = stack.loom("import", "git", str(folder), *where(undisturbed))
    assert done.returncode == 0, done.stderr
    finish(stack, undisturbed)
    return History(folder, commits, graph_of(stack, undisturbed))


def where(space: HttpWorld) -> tuple[str, ...]:
    return ("--org", "dev", "--namespace", space.name)


def finish(stack: Stack, space: HttpWorld) -> None:
    """`loom drain`, then `loom verify` without a difference."""
    drained = stack.loom("drain", "--timeout", str(DRAIN_S), timeout=DRAIN_S + 60)
    assert drained.returncode == 0, drained.stdout + drained.stderr
    verified = stack.loom("verify", *where(space))
    assert verified.returncode == 0, verified.stdout + verified.stderr


GRAPH = {
    "edges": "SELECT entity_a, entity_b, memory_key, span, count() FROM loom.entity_edges FINAL",
    "triples": "SELECT subject, relation, object, memory_key, span, valid_from, valid_to, invalid_at, count() "
    "FROM loom.entity_triples FINAL",
    "facts": "SELECT entity, attribute, value, memory_key, count() FROM loom.derived_facts FINAL",
    "rows": "SELECT memory_key, content_sha256, count() FROM loom.memory FINAL",
    "extractions": "SELECT memory_key, result, count() FROM loom.memory_extractions FINAL",
}
"""What has to be the same, row by row. Ids and arrivals are a namespace's own."""


def graph_of(stack: Stack, space: HttpWorld) -> dict[str, list[str]]:
    url = stack.addresses()["clickhouse_url"]
    found = {}
    for name, select in GRAPH.items():
        statement = (
            f"{select} WHERE org = 'dev' AND namespace = '{space.name}' GROUP BY ALL ORDER BY ALL FORMAT TSV"
        )
        answer = httpx.post(url, content=statement, timeout=60)
        assert answer.status_code == 200, answer.text
        found[name] = answer.text.splitlines()
    nodes = space.call("namespace.taxonomy", limit=1000)["entities"]
    found["degrees"] = [f"{node['entity']}\t{node['degree']}" for node in nodes]
    return found


def start_import(stack: Stack, space: HttpWorld, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "loom", "import", "git", str(folder), *where(space)]
    return subprocess.Popen(
        [*command, "--data-dir", str(stack.folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def some_rows_are_in(space: HttpWorld, history: History) -> bool:
    return bool(space.call("memory.get", memory_key=f"commit/{history.commits[0]}")["found"])


@pytest.mark.nightly  # one after the other they are killed below
@pytest.mark.parametrize("victim", ["worker-1", "clickhouse", "redis"])
def test_a_killed_process_costs_time_and_nothing_else(stack: Stack, history: History, victim: str) -> None:
    assert len(history.graph["rows"]) == len(history.commits)
    assert min(len(lines) for lines in history.graph.values()) > 0
    space = stack.namespace()
    killed = stack.addresses()["pids"][victim]
    importing = start_import(stack, space, history.folder)
    try:
        wait_until(lambda: some_rows_are_in(space, history), "the import is under way", 120)
        importing.send_signal(signal.SIGSTOP)  # so that it is not over before the kill, however fast it is
        if victim == "worker-1":
            wait_until(lambda: bool(space.call("namespace.taxonomy")["entities"]), "the worker reads", 120)
        assert importing.poll() is None, "the import still runs"
        stack.kill(victim)
        importing.send_signal(signal.SIGCONT)
        _, errors = importing.communicate(timeout=300)
    finally:
        importing.kill()
        importing.wait()
    wait_until(lambda: stack.addresses()["pids"][victim] != killed, f"{victim} runs again", 120)
    wait_until(lambda: answers(stack), "the stack is ready again", 120)
    # Where the store was away for longer than the client waits, the import says so; running it again goes on.
    again = stack.loom("import", "git", str(history.folder), *where(space))
    assert again.returncode == 0, errors + again.stderr
    finish(stack, space)
    assert graph_of(stack, space) == history.graph


def answers(stack: Stack) -> bool:
    try:
        return httpx.get(f"{stack.url}/readyz", timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def test_every_process_killed_in_turn_leaves_the_same_graph(stack: Stack, history: History) -> None:
    space = stack.namespace()
    importing = start_import(stack, space, history.folder)
    wait_until(lambda: some_rows_are_in(space, history), "the import is under way", 120)
    assert importing.poll() is None, "the import still runs"
    for victim in ("worker-1", "redis", "server", "clickhouse", "beat"):
        before = stack.addresses()["pids"][victim]
        stack.kill(victim)
        wait_until(lambda v=victim, b=before: stack.addresses()["pids"][v] != b, f"{victim} runs again", 120)  # type: ignore[misc]
    importing.communicate(timeout=300)
    wait_until(lambda: answers(stack), "the stack is ready again", 120)
    again = stack.loom("import", "git", str(history.folder), *where(space))
    assert again.returncode == 0, again.stderr
    finish(stack, space)
    assert graph_of(stack, space) == history.graph
