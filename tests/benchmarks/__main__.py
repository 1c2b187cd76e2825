"""`make bench`: every benchmark, each in a process of its own; ratios against a baseline of the same run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Exit code 1 if a benchmark could not run; what it measures decides nothing."""
    failed = []
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        print(f"== {path.stem}", flush=True)
        if subprocess.run([sys.executable, "-m", f"tests.benchmarks.{path.stem}"], check=False).returncode:
            failed.append(path.stem)
    if failed:
        print(f"could not run: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
