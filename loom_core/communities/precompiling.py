"""Compiling ahead of the first real graph."""

import numpy as np

from loom_core.communities.building import EdgeBatch, build_graph
from loom_core.communities.partitioning import partition

NARROW, WIDE = 1, 1 << 40


def precompile() -> None:
    """Compile every loop for every width of weights and keep the code on disk; seconds, once an image.

    Run while building an image, with the `NUMBA_CACHE_DIR` (and, where the image is to run on other
    processors than it is built on, the `NUMBA_CPU_NAME=generic`) of the processes that will use it.
    """
    ends = np.arange(8, dtype=np.uint64)
    for widths in ((NARROW,), (WIDE,), (NARROW, WIDE)):
        graph = build_graph(
            EdgeBatch(ends, np.roll(ends, 1), np.full(len(ends), weight, np.int64)) for weight in widths
        )
        partition(graph, levels=2)
