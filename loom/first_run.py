"""What `make run` does: brings the stack up, turns this checkout's own text into a graph, and shows it."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from loom.cli.fleet import describe_left, wait_until_drained
from loom.cli.imports import import_source
from loom.cli.session import err, open_session, out
from loom.importing.entries import BadInput, Source
from loom.importing.git import read_git
from loom.importing.markdown import read_markdown
from loom.overview import print_overview
from loom_core.tenancy import Scope

DRAIN_TIMEOUT_S = 1800.0


def main() -> int:
    """Exit code 0 once the graph was shown; 1 if the stack did not start or something was left undone."""
    parser = argparse.ArgumentParser(prog="make run ARGS=…", description=__doc__)
    parser.add_argument("--once", action="store_true", help="end after printing")
    parser.add_argument("--port", type=int, default=0, help="port of the server (default: a free one)")
    parser.add_argument(
        "--data-dir",
        type=Path,
        help="keep the data there (default: .loom, or a temporary folder with --once)",
    )
    arguments = parser.parse_args()
    os.environ.setdefault("LOOM_LLM_PROVIDER", "spacy")
    with _data_folder(arguments) as folder, _stack(folder, arguments.port) as stack:
        return _show(Path.cwd(), folder, stack, arguments.once)


@contextlib.contextmanager
def _data_folder(arguments: argparse.Namespace) -> Iterator[Path]:
    if arguments.data_dir or not arguments.once:
        yield arguments.data_dir or Path(".loom")
        return
    with tempfile.TemporaryDirectory(prefix="loom-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextlib.contextmanager
def _stack(folder: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """`loom up` as a child of this process: up when it prints `ready`, down with this process."""
    command = [sys.executable, "-m", "loom", "up", "--data-dir", str(folder), "--port", str(port)]
    stack = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield stack
    finally:
        if stack.poll() is None:
            stack.send_signal(signal.SIGTERM)
        stack.wait()


def _show(checkout: Path, folder: Path, stack: subprocess.Popen[str], once: bool) -> int:
    out.print("starting ClickHouse, Redis, the server and the fleet …")
    assert stack.stdout is not None
    ready = next((line for line in stack.stdout if line.startswith("ready ")), "")
    if not ready:
        err.print("loom: the stack did not start; its log is above and in the data folder's logs/")
        return 1
    out.print(ready.strip())
    session = open_session(folder)
    for label, source in _sources(checkout):
        done = import_source(session.settings, source, label)
        out.print(
            f"{label}: {done.written} rows written, {done.unchanged} unchanged, {len(done.refused)} refused"
        )
    left = wait_until_drained(session, DRAIN_TIMEOUT_S)
    if left:
        err.print(f"loom: still waiting: {describe_left(left)}")
    print_overview(session.store, Scope(session.settings.org, session.settings.namespace))
    if once or left:
        return 1 if left else 0
    _say_what_next(ready.split()[1], folder)
    with contextlib.suppress(KeyboardInterrupt):
        stack.wait()
    return 0


def _sources(checkout: Path) -> Iterator[tuple[str, Source]]:
    """The history, where there is one (an unpacked archive has none), and the Markdown of the checkout."""
    try:
        yield "git history", read_git(checkout)
    except BadInput as error:
        out.print(f"no git history here ({error}); the Markdown alone is imported", markup=False)
    yield "Markdown", read_markdown(checkout)


def _say_what_next(url: str, folder: Path) -> None:
    out.print(
        f"""
The stack stays up until Ctrl-C. In another terminal:
    .venv/bin/loom status --data-dir {folder}
    .venv/bin/loom verify --data-dir {folder}
    curl -s {url}/v1/facts.related -H 'content-type: application/json' \\
        -d '{{"org":"dev","namespace":"local","entity":"worker"}}'
    open {url}/docs""",
        markup=False,
    )


if __name__ == "__main__":
    sys.exit(main())
