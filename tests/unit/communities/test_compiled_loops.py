"""The compiled loops do what their Python says, and are compiled once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from loom_core.communities import (
    EdgeBatch,
    build_graph,
    building,
    connectivity,
    detect,
    hubs,
    interning,
    modularity,
    numbering,
    precompile,
    propagation,
    rows,
)

OUTCOMES = """
import json, random, sys
from loom_core.communities import detect

random.seed(7)
outcomes = []
for _ in range(60):
    names = [f"n{k}" for k in range(random.randint(2, 40))]
    edges = [(random.choice(names), random.choice(names), random.choice((0, 1, 1, 2, 9, 2**40)))
             for _ in range(random.randint(1, 150))]
    found = detect(*(list(column) for column in zip(*edges)))
    outcomes.append([sorted(found.labels.items()), found.dropped, found.giant_share])
json.dump(outcomes, sys.stdout)
"""


def outcomes(**environment: str) -> object:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore::RuntimeWarning", "-c", OUTCOMES],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(ran.stdout)


def test_compiled_and_interpreted_loops_agree() -> None:
    """Interpreted, an index past an array's end is an error; compiled, it reads what lies there."""
    assert outcomes(NUMBA_DISABLE_JIT="1") == outcomes()


def loops() -> list:
    modules = (building, connectivity, hubs, interning, modularity, numbering, propagation, rows)
    return [thing for module in modules for thing in vars(module).values() if hasattr(thing, "signatures")]


def test_after_precompiling_no_graph_compiles_anything() -> None:
    precompile()
    compiled = {loop.__name__: list(loop.signatures) for loop in loops()}
    for weight in (1, 2**40):
        ends = np.random.default_rng(0).integers(0, 500, (3000, 2), dtype=np.uint64)
        weights = np.full(3000, weight)
        detect(ends[:, 0], ends[:, 1], weights)
        ends.flags.writeable = weights.flags.writeable = False  # as a database's buffers are
        build_graph([EdgeBatch(ends[:, 0], ends[:, 1], weights)])
    assert {loop.__name__: list(loop.signatures) for loop in loops()} == compiled
    assert len(compiled) > 10


def test_the_code_is_kept_on_disk(tmp_path: Path) -> None:
    source = "from loom_core.communities.interning import Interner; import numpy as np; "
    source += "Interner().number(np.arange(3, dtype=np.uint64))"
    source += (
        "; from loom_core.communities.interning import _number; print(sum(_number.stats.cache_hits.values()))"
    )
    hits = [
        subprocess.run(
            [sys.executable, "-c", source],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for _ in range(2)
    ]
    assert hits == ["0", "1"]
