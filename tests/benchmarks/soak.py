"""A stack under steady writes while its processes are killed at random: nothing is lost, nothing counts twice.

    python -m tests.benchmarks.soak [--minutes 15] [--rate 20] [--kill-every 20] [--seed 1]

Writers send each row until it is taken. At the end: `loom drain`, `loom verify`, and what was written against what
is read. Prints the memory of each kind of process by thirds of the run. Exit code 1 where anything is missing.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.support.stack import HttpWorld, Stack, running_stack

WRITERS, BATCH = 4, 12
SAMPLE_EVERY_S = 5.0
TEXT = "match(neighbour, '^alpha_[0-9]+_[0-9]+$')"
"""The name that each text is about. Of some texts the reader makes one more, of the whole sentence."""
CITIES = ("london", "paris", "rome", "oslo", "cairo")
ENVIRONMENT = {
    "LOOM_LLM_PROVIDER": "spacy",
    "LOOM_ENTITY_EXTRACT_INTERVAL_S": "5",
    "LOOM_PROJECTION_RETRY_INTERVAL_S": "5",
    "LOOM_SUPERSESSION_REPLAY_INTERVAL_S": "5",
    "LOOM_PROJECTION_RETRY_BASE_DELAY_S": "1",
    "LOOM_PROJECTION_RETRY_ORPHAN_AFTER_S": "10",
    "LOOM_LOG_LEVEL": "warning",
}


@dataclass
class Written:
    """What the writers have been told is kept."""

    texts: int = 0
    homes: dict[str, str] = field(default_factory=dict)
    versions: int = 0
    refused: int = 0


class Writer(threading.Thread):
    """Sends `BATCH` rows at a time. Every fourth is a text to read, the next names two entities, the next says where
    someone lives, which closes what was said before; the last is the second version of a row some batches back."""

    def __init__(self, stack: Stack, namespace: str, number: int, rate: float) -> None:
        super().__init__(daemon=True)
        self._space = HttpWorld(stack.url, namespace, httpx.Client(timeout=60))
        self._number, self._pause_s = number, 1 / rate
        self.stop = threading.Event()
        self.written = Written()

    def run(self) -> None:
        due, first = time.monotonic(), 0
        while not self.stop.wait(max(0.0, due - time.monotonic())):
            due += BATCH * self._pause_s
            self._send([self._entry(row) for row in range(first, first + BATCH)])
            self.written.versions += BATCH
            first += BATCH

    def _entry(self, row: int) -> dict[str, Any]:
        key, kind, written = f"{self._number}/{row}", row % 4, self.written
        if kind == 0:
            written.texts += 1
            return {"memory_key": key, "value": f"alpha_{self._number}_{row} uses hub service"}
        if kind == 1:
            return {
                "memory_key": key,
                "value": "text",
                "entities": [f"beta_{self._number}_{row}", "declared hub"],
            }
        if kind == 2:
            person, city = f"person_{self._number}_{row % 20}", CITIES[row // 20 % len(CITIES)]
            written.homes[person] = city
            relations = [[person, "live_in", city]]
            return {"memory_key": key, "value": f"{person} {city}", "entities": [], "relations": relations}
        other = {"value": "again", "entities": [f"gamma_{row}", "declared hub"]}
        return {"memory_key": f"{self._number}/{max(1, row - 2 - 4 * BATCH)}", **other}

    def _send(self, entries: list[dict[str, Any]]) -> None:
        while True:
            try:
                answer = self._space.post("memory.set_many", entries=entries)
                if answer.status_code == 200:
                    assert not answer.json()["refused"], answer.text
                    return
            except httpx.TransportError:
                pass
            self.written.refused += 1
            time.sleep(0.5)


def victims(stack: Stack) -> list[int]:
    """Every process of the stack but the supervisor, the pools' included."""
    pids = list(stack.addresses()["pids"].values())
    return [*pids, *(child for pid in pids for child in children(pid))]


def children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def resident_mib(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        return 0.0


def disturb(
    stack: Stack, seconds: float, kill_every_s: float, rng: random.Random
) -> dict[str, list[tuple[float, float]]]:
    """Kills for so long; the resident MiB of each kind of process at each moment."""
    began, killed = time.monotonic(), Counter[str]()
    next_kill = began + kill_every_s
    memory: dict[str, list[tuple[float, float]]] = defaultdict(list)
    while (at := time.monotonic() - began) < seconds:
        try:
            names = {pid: name for name, pid in stack.addresses()["pids"].items()}
            for pid, name in names.items():
                memory[name].append((at, resident_mib(pid) + sum(map(resident_mib, children(pid)))))
            if time.monotonic() >= next_kill:
                next_kill += kill_every_s
                victim = rng.choice(victims(stack))
                os.kill(victim, signal.SIGKILL)
                killed[names.get(victim, "a pool process")] += 1
        except (OSError, ValueError) as error:  # stack.json is being written, or the process has just ended
            print(f"not sampled: {error}", file=sys.stderr)
        time.sleep(SAMPLE_EVERY_S)
    print("killed: " + ", ".join(f"{name} {count}" for name, count in killed.most_common()))
    return memory


def check(stack: Stack, space: HttpWorld, writers: list[Writer]) -> list[str]:
    """What is wrong, a line each."""
    wrong = []
    where = ("--org", "dev", "--namespace", space.name)
    started = time.monotonic()
    drained = stack.loom("drain", "--timeout", "600", timeout=700)
    if drained.returncode:
        wrong.append(f"drain: {drained.stdout[-300:]}{drained.stderr[-300:]}")
    print(f"drained in {time.monotonic() - started:.0f} s")
    verified = stack.loom("verify", *where, timeout=900)
    if verified.returncode:
        wrong.append(f"verify: {verified.stdout[-1000:]}{verified.stderr[-300:]}")
    url = stack.addresses()["clickhouse_url"]

    def number(sql: str) -> int:
        answer = httpx.post(
            url, content=sql.replace("SCOPE", f"org = 'dev' AND namespace = '{space.name}'"), timeout=60
        )
        return int(answer.raise_for_status().text)

    expected = {
        "row versions": (sum(w.written.versions for w in writers), "SELECT count() FROM loom.memory FINAL WHERE SCOPE"),
        "neighbours of the read hub": (
            sum(w.written.texts for w in writers),
            f"SELECT uniq(neighbour) FROM loom.entity_adjacency FINAL WHERE entity = 'hub service' AND {TEXT} AND SCOPE",
        ),
        "their observations": (
            sum(w.written.texts for w in writers),
            f"SELECT count() FROM loom.entity_adjacency FINAL WHERE entity = 'hub service' AND {TEXT} AND SCOPE",
        ),
        "failures open or dead": (
            0, "SELECT count() FROM loom.memory_projection_failures FINAL WHERE state IN ('open', 'dead') AND SCOPE"
        ),
    }  # fmt: skip
    for what, (count, sql) in expected.items():
        found = number(sql)
        print(f"{what}: {found:,} of {count:,}")
        if found != count:
            wrong.append(f"{what}: {found}, not {count}")
    homes = {person: city for writer in writers for person, city in writer.written.homes.items()}
    right = sum(set(space.objects(person)) == {city} for person, city in homes.items())
    print(f"current homes right: {right} of {len(homes)}")
    if right != len(homes):
        wrong.append(f"homes: {len(homes) - right} wrong")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="A stack under writes and kills.")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--rate", type=float, default=20, help="rows a second")
    parser.add_argument("--kill-every", type=float, default=20, help="seconds")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        running_stack(Path(folder) / "soak", **ENVIRONMENT) as stack,
    ):
        space = stack.namespace("soak")
        writers = [Writer(stack, space.name, number, given.rate / WRITERS) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        memory = disturb(stack, given.minutes * 60, given.kill_every, random.Random(given.seed))
        for writer in writers:
            writer.stop.set()
        for writer in writers:
            writer.join(120)
        rows = sum(writer.written.versions for writer in writers)
        refused = sum(writer.written.refused for writer in writers)
        print(
            f"written: {rows:,} rows in {given.minutes:g} min, {rows / given.minutes / 60:.1f} a second; {refused} calls sent again"
        )
        for name, samples in sorted(memory.items()):
            third = given.minutes * 20
            most = [
                max((mib for at, mib in samples if i * third <= at < (i + 1) * third), default=0)
                for i in range(3)
            ]
            print(f"memory of {name}, most by thirds: " + ", ".join(f"{mib:.0f} MiB" for mib in most))
        wrong = check(stack, space, writers)
    for line in wrong:
        print(f"WRONG {line}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
