"""A supervised stack of small stand-ins, run as a process: `python -m tests.support.stand_in_stack FOLDER SPECS`.

SPECS is a JSON list of lists: children that start together, each `{"name", "role", "code", …}`; `code` is Python
that runs in the folder. Prints `ready PID` once all have written `NAME.ready`.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from loom.stack.child import ChildSpec
from loom.stack.find import StackAddresses, write_stack_file
from loom.stack.run import run
from loom.stack.supervisor import Supervisor

PROLOGUE = """
import os, signal, subprocess, sys, time
from pathlib import Path
os.chdir({folder!r})
name = {name!r}
def note(word):
    with open("events", "a") as events:
        events.write(f"{{name}} {{word}}\\n")
def ready():
    with open(f"{{name}}.pids", "a") as pids:
        pids.write(f"{{os.getpid()}}\\n")
    note("starts")
    Path(f"{{name}}.ready").touch()
def serve():
    def end(*_):
        note("ends")
        sys.exit(0)
    signal.signal(signal.SIGTERM, end)
    ready()
    while True:
        time.sleep(60)
"""


def spec(folder: Path, given: dict[str, Any]) -> ChildSpec:
    name = given.pop("name")
    code = PROLOGUE.format(folder=str(folder), name=name) + given.pop("code", "serve()")
    ready = folder / f"{name}.ready"
    return ChildSpec(
        name, given.pop("role", name), (sys.executable, "-c", code), is_ready=ready.exists, **given
    )


def main() -> None:
    folder = Path(sys.argv[1]).absolute()
    stages = [[spec(folder, child) for child in stage] for stage in json.loads(sys.argv[2])]

    def start(supervisor: Supervisor) -> None:
        for stage in stages:
            supervisor.start(stage)
        addresses = StackAddresses("http://127.0.0.1:1", "redis://127.0.0.1:2/0", "http://127.0.0.1:3")
        supervisor.when_changed(lambda: write_stack_file(folder, addresses, supervisor.pids()))
        print(f"ready {os.getpid()}", flush=True)

    sys.exit(run(folder, start))


if __name__ == "__main__":
    main()
