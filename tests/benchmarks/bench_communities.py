"""Speed, memory and quality of the community core, beside NetworKit.

    python -m tests.benchmarks.bench_communities [speed] [memory] [quality] [whole] [large]

Without a name all but `large` run (ten million entities, a few minutes, 6 GB). Times are of pairs of runs
that take turns, and only their ratios mean anything on a shared machine. `whole`: a pass of a million entities
from ClickHouse and back, on the embedded engine in this process.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import networkit
import numpy as np
from numpy.typing import NDArray

from loom_core import clock
from loom_core.communities import DropRule, EdgeBatch, Graph, build_graph, detect, partition, precompile
from loom_core.communities.hubs import HubOrder
from loom_core.communities.names import Integers
from loom_core.communities.propagation import propagate
from loom_core.community_pass.reading import open_graph
from loom_core.community_pass.run import run_pass
from loom_core.settings import Settings
from loom_core.tenancy import Scope
from tests.support.graph_rows import embedded_store
from tests.support.planted_graphs import (
    PlantedGraph,
    agreement,
    lfr_graph,
    normalised_mutual_information,
    topic_graph,
)

MILLION = 1_000_000
PAIRS = 5
FILL = """
INSERT INTO loom.entity_edges
    (org, namespace, entity_a, entity_b, memory_id, span, memory_key, value_sha256, valid_from, arrival, ver)
WITH rand(1) % {entities:UInt32} AS one,
     if(rand(2) % 5 < 4, intDiv(one, 45) * 45 + rand(3) % 45, rand(4) % {entities:UInt32}) AS other
SELECT {org:String}, {namespace:String}, leftPad(toString(least(one, other)), 8, 'n') AS a,
       leftPad(toString(greatest(one, other)), 8, 'n') AS b, toString(number), 0, toString(number), '',
       {now:DateTime64(6, 'UTC')}, {now:DateTime64(6, 'UTC')}, 1
FROM numbers({pairs:UInt32})
WHERE a < b
"""
"""Topics of 45 entities, and chance pairs; each pair observed about once."""


def hashed(planted: PlantedGraph) -> EdgeBatch:
    return EdgeBatch(Integers.hash(planted.sources), Integers.hash(planted.targets), planted.weights)


def seconds(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def in_turns(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float, float]:
    """The medians of both, and of the ratios of each pair."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(PAIRS)]
    return (
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(b / a for a, b in pairs),
    )


def upper_half(graph: Graph) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.float64]]:
    ours = np.repeat(np.arange(graph.entities), np.diff(graph.offsets))
    once = ours < graph.neighbours
    return (
        ours[once].astype(np.uint64),
        graph.neighbours[once].astype(np.uint64),
        graph.weights[once].astype(np.float64),
    )


def without_hubs(graph: Graph) -> EdgeBatch:
    """The edges that survive the first hub drop."""
    alive = np.ones(graph.entities, np.bool_)
    (first, *_) = DropRule().series(graph.entities)
    alive[HubOrder(graph).first(first.entities)] = False
    a, b, weights = upper_half(graph)
    kept = alive[a] & alive[b]
    return EdgeBatch(graph.hashes[a[kept]], graph.hashes[b[kept]], weights[kept].astype(np.int64))


def speed() -> None:
    networkit.setNumberOfThreads(1)
    planted = topic_graph(MILLION, topics=22_480, memories=1_250_000, hubs=0.001)
    edges = without_hubs(build_graph([hashed(planted)]))
    graph = build_graph([edges])
    a, b, weights = upper_half(graph)

    def networkit_graph() -> networkit.Graph:
        return networkit.GraphFromCoo((weights, (a, b)), n=graph.entities, weighted=True, directed=False)

    theirs = networkit_graph()
    everyone = np.arange(graph.entities, dtype=np.int32)
    print(f"propagation: {graph.entities:,} entities, {graph.edges:,} edges that survive the hub drop")
    ours, plp, ratio = in_turns(
        lambda: propagate(graph, everyone.copy(), everyone), lambda: networkit.community.PLP(theirs).run()
    )
    print(f"  ours {ours:.2f} s, NetworKit PLP {plp:.2f} s: {ratio:.1f} times faster")
    ours, plp, ratio = in_turns(
        lambda: propagate(build_graph([edges]), everyone.copy(), everyone),
        lambda: networkit.community.PLP(networkit_graph()).run(),
    )
    print(f"  with building {ours:.2f} s and {plp:.2f} s: {ratio:.1f} times faster")
    batch = hashed(planted)
    whole = build_graph([batch])
    build, cluster = seconds(lambda: build_graph([batch])), seconds(lambda: partition(whole))
    print(
        f"  the whole of {whole.edges:,} pairs with hubs: {build:.1f} s to build, {cluster:.1f} s to partition"
    )


def random_batches(entities: int, edges: int) -> Iterator[EdgeBatch]:
    """Topics of 45 and chance edges, a million at a time, and never all in memory."""
    random = np.random.default_rng(1)
    for begin in range(0, edges, MILLION):
        rows = min(MILLION, edges - begin)
        a = random.integers(0, entities, rows)
        near = np.minimum(a // 45 * 45 + random.integers(0, 45, rows), entities - 1)
        b = np.where(random.random(rows) < 0.8, near, random.integers(0, entities, rows))
        yield EdgeBatch(Integers.hash(a), Integers.hash(b), np.ones(rows, np.int64))


def peak() -> int:
    """Bytes, of this process alone: what getrusage calls the peak is its parent's too. Linux only."""
    (line,) = (
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
    )
    return int(line.split()[1]) * 1024


def child(entities: int, edges: int, streamed: bool) -> None:
    """Runs in a process of its own, whose peak is then this graph's."""
    precompile()
    before = peak()
    batches = random_batches(entities, edges)
    if not streamed:
        batches = iter([EdgeBatch(*(np.concatenate(column) for column in zip(*batches, strict=True)))])
    began = time.process_time()
    graph = build_graph(batches)
    built = time.process_time()
    found = partition(graph)
    used = peak() - before
    print(
        f"  {graph.entities:,} entities, {edges:,} rows, {'streamed' if streamed else 'in three arrays'}: "
        f"{built - began:.1f} s to build, {found.seconds:.1f} s to partition, "
        f"{used / edges:.0f} bytes a row at the peak, the rows included; {used / 1e9:.2f} GB"
    )


def in_a_process(entities: int, edges: int, streamed: bool) -> None:
    call = f"from tests.benchmarks.bench_communities import child; child({entities}, {edges}, {streamed})"
    subprocess.run([sys.executable, "-c", call], check=True)


def memory() -> None:
    print("memory")
    in_a_process(MILLION, 7 * MILLION, streamed=False)
    in_a_process(MILLION, 7 * MILLION, streamed=True)


def large() -> None:
    print("ten million entities")
    in_a_process(10 * MILLION, 145 * MILLION, streamed=True)


def quality() -> None:
    networkit.setNumberOfThreads(1)
    print("quality: normalised mutual information with the planted communities")
    for entities, seed in ((10_000, 1), (100_000, 2)):
        planted = lfr_graph(entities, degree=25, max_degree=60, smallest=20, largest=100, seed=seed)
        theirs = networkit.GraphFromCoo(
            (planted.sources.astype(np.uint64), planted.targets.astype(np.uint64)), n=entities
        )
        finder = networkit.community.LouvainMapEquation(theirs, True)
        finder.run()
        oracle = normalised_mutual_information(np.array(finder.getPartition().getVector()), planted.truth)
        ours = agreement(detect(*planted[:3]).labels, planted.truth)
        print(f"  LFR, {entities:,} entities: ours {ours:.4f}, LouvainMapEquation {oracle:.4f}")
    for entities in (10_000, 100_000, MILLION):
        shape = {"topics": entities * 2_248 // 100_000, "memories": entities}
        scores = [
            agreement(detect(*planted[:3]).labels, planted.truth)
            for planted in (
                topic_graph(entities, **shape),
                topic_graph(entities, **shape, hubs=0.001),
                topic_graph(entities, **shape, hubs=0.001, half_generic=True),
            )
        ]
        print(
            f"  topics, {entities:,} entities: without hubs {scores[0]:.4f}, "
            f"generic {scores[1]:.4f}, half-generic {scores[2]:.4f}"
        )


def whole() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store, settings = embedded_store(Path(folder)), Settings()
        scope = Scope("bench", "communities")
        store.command(
            FILL,
            org=scope.org,
            namespace=scope.namespace,
            entities=MILLION,
            pairs=7 * MILLION,
            now=clock.now(),
        )
        run_pass(store, scope, settings)  # compiles, and reads the files into the machine's memory
        graph = build_graph(open_graph(store, scope, clock.now()).edges())
        everyone = np.arange(graph.entities, dtype=np.int32)
        ours, job, ratio = in_turns(
            lambda: propagate(graph, everyone.copy(), everyone), lambda: run_pass(store, scope, settings)
        )
    print(f"the whole pass: {graph.entities:,} entities, {graph.edges:,} pairs in ClickHouse")
    print(f"  propagation {ours:.2f} s, read, clustered and written {job:.2f} s: {ratio:.1f} times as long")


PARTS = {"speed": speed, "memory": memory, "quality": quality, "whole": whole, "large": large}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="part", help=", ".join(PARTS))
    parts = parser.parse_args().parts or ["speed", "memory", "quality", "whole"]
    precompile()
    for part in parts:
        PARTS[part]()


if __name__ == "__main__":
    main()
