"""A whole stack, started by the command that a person types, and a namespace of it over HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

START_TIMEOUT_S = 180


@dataclass
class Stack:
    """A running `loom up` and the folder it keeps its data in."""

    folder: Path
    process: subprocess.Popen[str]
    url: str

    def addresses(self) -> dict[str, Any]:
        """What stack.json says now: a restarted child may have another process id."""
        content: dict[str, Any] = json.loads((self.folder / "stack.json").read_text())
        return content

    def loom(self, *arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """Runs a command against this stack."""
        return run_loom(*arguments, "--data-dir", str(self.folder), timeout=timeout)

    def kill(self, child: str) -> None:
        """kill -9 of a child by its name in stack.json."""
        os.kill(self.addresses()["pids"][child], signal.SIGKILL)

    def namespace(self, name: str | None = None) -> HttpWorld:
        """A namespace of its own."""
        return HttpWorld(self.url, name or uuid.uuid4().hex)


def run_loom(*arguments: str, timeout: float = 300, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs `loom`; the caller looks at the exit code."""
    return subprocess.run(
        [sys.executable, "-m", "loom", *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=os.environ | environment,
        check=False,
    )


@contextmanager
def running_stack(folder: Path, *options: str, **environment: str) -> Iterator[Stack]:
    """`loom up` on free ports until the block ends; SIGTERM then has to end it with all its children."""
    command = [sys.executable, "-m", "loom", "up", "--data-dir", str(folder), "--port", "0", *options]
    with (folder.parent / f"{folder.name}.err").open("ab") as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=os.environ | environment
        )
    try:
        assert process.stdout is not None
        ready = next((line for line in process.stdout if line.startswith("ready ")), None)
        assert ready, (folder.parent / f"{folder.name}.err").read_text()[-3000:]
        yield Stack(folder, process, ready.split()[1])
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(60)


@dataclass
class HttpWorld:
    """One namespace over HTTP, in the notation of the behaviour cases."""

    url: str
    name: str
    client: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=60))

    def post(self, op: str, **fields: Any) -> httpx.Response:
        """The raw answer of an op."""
        body = {"org": "dev", "namespace": self.name} | fields
        return self.client.post(f"{self.url}/v1/{op}", json=body)

    def call(self, op: str, **fields: Any) -> dict[str, Any]:
        """The answer of an op that has to succeed."""
        answer = self.post(op, **fields)
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def set(
        self,
        key: str,
        value: Any = "text",
        E: Sequence[str] | None = None,
        R: Sequence[Any] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """`set key: value | E[…] | R[…]`."""
        given = {"entities": E, "relations": R} | more
        return self.call(
            "memory.set", memory_key=key, value=value, **{k: v for k, v in given.items() if v is not None}
        )

    def state(self, key: str, *relations: Any, **more: Any) -> dict[str, Any]:
        """A row that states relations and has no entities of its own."""
        return self.set(key, f"{key} states {len(relations)}", [], list(relations), **more)

    def objects(self, subject: str = "user", relation: str = "live_in", **more: Any) -> dict[str, int]:
        """The objects that hold, with their co_occur."""
        rows = self.call("facts.list", subject=subject, relation=relation, **more)["rows"]
        return {row["object"]: row["co_occur"] for row in rows}

    def related(self, entity: str, **more: Any) -> dict[str, int]:
        """Neighbours with their co_occur."""
        rows = self.call("facts.related", entity=entity, **more)["related"]
        return {row["entity"]: row["co_occur"] for row in rows}

    def walk(self, seed: str, **more: Any) -> dict[str, dict[str, Any]]:
        """The nodes that a walk reports, by name."""
        nodes = self.call("facts.traverse", seed_entity=seed, **more)["nodes"]
        by_name = {node["entity"]: node for node in nodes}
        assert len(by_name) == len(nodes), "a node is reported once"
        return by_name

    def wait_until_drained(self, timeout_s: float = 120) -> None:
        """Until no row of this stack awaits extraction, projection or a close, as `ops.fleet` tells it."""
        deadline = time.monotonic() + timeout_s
        pause_s = 0.2
        while left := {
            each["worker"]: each["backlog"]
            for each in self.call("ops.fleet")["workers"]
            if each["backlog"] and each["worker"] != "entity_communities"
        }:
            assert time.monotonic() < deadline, f"still waiting after {timeout_s} s: {left}"
            time.sleep(pause_s)
            pause_s = min(0.8, pause_s * 1.5)  # asking takes the time of those who are waited for

    def restore(self, key: str, **target: Any) -> dict[str, Any]:
        """Undo."""
        return self.call("memory.restore", memory_key=key, **target)
