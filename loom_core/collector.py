"""Python's cyclic garbage collector, made rare in long-lived processes.

A bulk write makes millions of objects, hardly any of them in a cycle: at the default thresholds the collector took a
third of its time (`python -m tests.benchmarks.bench_writes`).
"""

from __future__ import annotations

import gc

THRESHOLDS = (100_000, 20, 20)


def collect_rarely() -> None:
    """Raises the thresholds of this process. Objects without cycles are freed at once as before."""
    gc.set_threshold(*THRESHOLDS)
