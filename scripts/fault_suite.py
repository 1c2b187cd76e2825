"""Runs the fault suite in its long form, several times: `python scripts/fault_suite.py [--times 10]`.

Stops at the first failure. What it measured goes into tests/faults/measured.json, of which
`python scripts/readme_tables.py` makes the README's table.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tests.faults.outcomes import FAULTS, MEASURED  # noqa: E402  # found in the checkout only
from tests.support.recovery import TIMES  # noqa: E402

TESTS = ("tests/faults", "tests/integration/stack/test_up.py")


def run(times: Path) -> bool:
    """Once; whether all passed."""
    command = [sys.executable, "-m", "pytest", "-q", "--timeout=3600", *TESTS]
    return (
        subprocess.run(command, cwd=ROOT, env=os.environ | {TIMES: str(times)}, check=False).returncode == 0
    )


def summary(times: Path) -> dict[str, dict[str, float]]:
    """Per fault, in the table's order."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for line in times.read_text().splitlines():
        measured = json.loads(line)
        seconds[measured["fault"]].append(measured["seconds"])
    return {
        name: {"runs": len(seconds[name]), "median_s": statistics.median(seconds[name]), "most_s": max(seconds[name])}
        for name in FAULTS
        if seconds[name]
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description="The fault suite, several times in a row.")
    parser.add_argument("--times", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        times = Path(folder) / "times.jsonl"
        for count in range(given.times):
            print(f"run {count + 1} of {given.times}", flush=True)
            if not run(times):
                return 1
        MEASURED.write_text(json.dumps(summary(times), indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
