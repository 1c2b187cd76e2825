"""How long the reads of the graph take, beside Ladybug (an embedded graph database) on the same data.

    python tests/benchmarks/bench_facts.py --observations 1000000 [--walks 40] [--without-ladybug] [--folder D]

The graph: pairs of n/5 entities, one end uniform, the other with a probability that falls as 1/rank, so that a few
entities are hubs; a fifth of the pairs are typed triples as well. Seeds are drawn by observation, so hubs are among
them as often as a caller would ask for them. Ladybug runs the same walk, hop by hop with the same trimming, and
Cypher's own shortest path. Wall-clock and CPU time, both in this process, after one warm-up of each; the CPU
time is what a busy machine leaves comparable.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow

from loom_core.facts import models
from loom_core.facts.service import FactsService
from loom_core.settings import Settings
from loom_core.storage.migrate import migrate
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import CallContext, Scope

SCOPE = Scope("bench", "graph")
NAMES = {"org": SCOPE.org, "namespace": SCOPE.namespace}
LATER = 2**50
CHUNK = 1_000_000
TOP_K = 20

PAIRS = """
SELECT toString(number) AS id, least(x, y) AS a, greatest(x, y) AS b,
       fromUnixTimestamp64Micro(toInt64(1700000000000000 + number), 'UTC') AS since
FROM
(
    SELECT number,
           concat('entity ', toString(toUInt64(pow({entities}, (cityHash64(number, 1) % 1000003) / 1000003.)))) AS x,
           concat('entity ', toString(cityHash64(number, 2) % {entities})) AS y
    FROM numbers({start}, {count})
)
WHERE x != y
"""
EDGES = """
INSERT INTO loom.entity_edges
    (org, namespace, entity_a, entity_b, memory_id, memory_key, span, value_sha256, valid_from, arrival, ver)
SELECT 'bench', 'graph', a, b, id, id, 0, '', since, since, 1 FROM ({pairs})
"""
TRIPLES = """
INSERT INTO loom.entity_triples
    (org, namespace, subject, relation, object, memory_id, memory_key, span, value_sha256, confidence, adapter_name,
     provenance, valid_from, arrival, ver)
SELECT 'bench', 'graph', a, ['know', 'own', 'depend_on'][cityHash64(id) % 3 + 1], b, id, id, 0, '', 1, 'caller',
       'extracted', since, since, 1
FROM ({pairs}) WHERE cityHash64(id, 5) % 5 = 0
"""
DEGREES = """
INSERT INTO loom.entity_degree (org, namespace, generation, entity, degree)
SELECT org, namespace, 0, entity, count() FROM loom.entity_adjacency FINAL
WHERE org = 'bench' AND namespace = 'graph' GROUP BY org, namespace, entity
"""


def fill(store: Store, observations: int) -> None:
    """The graph, straight into the tables."""
    for start in range(0, observations, CHUNK):
        pairs = PAIRS.format(entities=observations // 5, start=start, count=min(CHUNK, observations - start))
        store.command(EDGES.format(pairs=pairs))
        store.command(TRIPLES.format(pairs=pairs))
    store.command(DEGREES)


def seeds(store: Store, count: int) -> list[str]:
    """Ends of `count` observations."""
    rows = store.rows(
        "SELECT entity_a FROM loom.entity_edges WHERE org = 'bench' AND namespace = 'graph'"
        " ORDER BY cityHash64(memory_id) LIMIT {count:UInt32}",
        count=count,
    )
    return [entity for (entity,) in rows]


class Rival:
    """The same pairs in Ladybug: names and degrees as nodes, one relationship an observation."""

    def __init__(self, folder: Path, store: Store) -> None:
        import ladybug

        filled = folder.exists()
        self._connection = ladybug.Connection(ladybug.Database(str(folder)))
        if not filled:
            self._fill(store)

    def _fill(self, store: Store) -> None:
        self._run("CREATE NODE TABLE Entity(name STRING PRIMARY KEY, degree INT64)")
        self._run("CREATE REL TABLE Pair(FROM Entity TO Entity)")
        self._run("CREATE REL TABLE Triple(FROM Entity TO Entity, relation STRING)")
        scope = "WHERE org = 'bench' AND namespace = 'graph'"
        self._copy("Entity", store, f"SELECT entity, degree FROM loom.entity_degree {scope}")
        self._copy("Pair", store, f"SELECT entity_a, entity_b FROM loom.entity_edges {scope}")
        self._copy("Triple", store, f"SELECT subject, object, relation FROM loom.entity_triples {scope}")

    def _copy(self, table: str, store: Store, query: str) -> None:
        columns = zip(*store.rows(query), strict=True)
        self._run(
            f"COPY {table} FROM rows",
            rows=pyarrow.table({str(n): c for n, c in enumerate(map(list, columns))}),
        )

    def _run(self, statement: str, rows: pyarrow.Table | None = None, **parameters: Any) -> list[list[Any]]:
        result = (
            self._connection.execute(statement, parameters)
            if parameters
            else self._connection.execute(statement)
        )
        return result.get_all()

    def traverse(self, seed: str) -> int:
        """Two hops, each parent keeping its twenty best by cosine, hubs not expanded."""
        visited, frontier = {seed}, [seed]
        for _ in range(2):
            rows = self._run(
                "MATCH (p:Entity)-[e:Pair]-(c:Entity) WHERE p.name IN $frontier "
                "RETURN p.name, c.name, count(e), c.degree",
                frontier=frontier,
            )
            children: dict[str, list[tuple[float, int, str, int]]] = {}
            for parent, child, weight, degree in rows:
                if child not in visited:
                    children.setdefault(parent, []).append(
                        (-weight * weight / degree, -weight, child, degree)
                    )
            kept = {best for rivals in children.values() for best in sorted(rivals)[:TOP_K]}
            visited |= {child for _, _, child, _ in kept}
            frontier = [child for _, weight, child, degree in kept if -weight / degree > 0.01]
        return len(visited)

    def path(self, a: str, b: str) -> int:
        """Cypher's shortest path of at most four edges."""
        found = self._run(
            "MATCH p = (a:Entity {name: $a})-[:Pair* SHORTEST 1..4]-(b:Entity {name: $b}) RETURN length(p)",
            a=a,
            b=b,
        )
        return len(found)

    def list(self, subject: str) -> int:
        """The fifty most observed triples of a subject."""
        return len(
            self._run(
                "MATCH (s:Entity {name: $s})-[t:Triple]->(o:Entity) "
                "RETURN o.name, t.relation, count(t) AS n ORDER BY n DESC, o.name LIMIT 50",
                s=subject,
            )
        )

    def related(self, entity: str) -> int:
        """The twenty most frequent neighbours over both edge sets."""
        return len(
            self._run(
                "MATCH (s:Entity {name: $s})-[e:Pair|:Triple]-(o:Entity) "
                "RETURN o.name, count(e) AS n ORDER BY n DESC, o.name LIMIT 20",
                s=entity,
            )
        )


@dataclass
class Times:
    """Milliseconds of each call."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def shown(self) -> str:
        """Median and 99th percentile of the wall-clock time, median of the CPU time."""
        slowest = sorted(self.wall)[int(len(self.wall) * 0.99)]
        return f"{statistics.median(self.wall):>9.1f}{slowest:>9.1f}{statistics.median(self.cpu):>9.1f}"


def timed(call: Callable[..., Any], arguments: list[tuple[str, ...]]) -> Times:
    """Each call's times, after one that does not count."""
    call(*arguments[0])
    times = Times()
    for given in arguments:
        wall, cpu = time.perf_counter(), time.process_time()
        call(*given)
        times.cpu.append((time.process_time() - cpu) * 1000)
        times.wall.append((time.perf_counter() - wall) * 1000)
    return times


def row(label: str, ours: Times, theirs: Times | None) -> str:
    """One line of the table; the last figure is the rival's wall-clock time over ours, median of the pairs."""
    if theirs is None:
        return f"{label:<20}{ours.shown()}"
    ratio = statistics.median(b / a for a, b in zip(ours.wall, theirs.wall, strict=True))
    return f"{label:<20}{ours.shown()}   |{theirs.shown()}{ratio:>9.2f}"


def plan(store: Store, entity: str) -> list[str]:
    """What `EXPLAIN indexes = 1` says a hop reads of the adjacency."""
    lines = store.rows(
        f"EXPLAIN indexes = 1 {sql('facts_walk.neighbours')}",
        **NAMES, at=LATER, frontier=[entity], visited=[], top_k=TOP_K, min_co_occur=1,
    )  # fmt: skip
    return [line.strip() for (line,) in lines if "Condition" in line or "Granules" in line]


def main() -> None:
    """Fills, asks, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--observations", type=int, default=1_000_000)
    parser.add_argument("--walks", type=int, default=40)
    parser.add_argument("--without-ladybug", action="store_true")
    parser.add_argument(
        "--folder", type=Path, help="keeps the filled stores here; default: a temporary folder"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        run(options, options.folder or Path(temporary))


def run(options: argparse.Namespace, folder: Path) -> None:
    """The benchmark on stores in `folder`."""
    settings = Settings(clickhouse_url=f"chdb://{folder / 'clickhouse'}")
    store = Store(settings)
    migrate(store, settings)
    if not seeds(store, 1):
        start = time.perf_counter()
        fill(store, options.observations)
        print(f"filled in {time.perf_counter() - start:.0f} s")
    chosen = seeds(store, 2 * options.walks)
    ones, pairs = [(name,) for name in chosen[: options.walks]], list(zip(*[iter(chosen)] * 2, strict=True))
    facts, context = FactsService(store, settings), CallContext(SCOPE)
    ours: dict[str, Callable[..., Any]] = {
        "traverse, 2 hops": lambda s: facts.traverse(
            context, models.FactsTraverseRequest(**NAMES, seed_entity=s)
        ),
        "path, 4 hops": lambda a, b: facts.path(
            context, models.FactsPathRequest(**NAMES, entity_a=a, entity_b=b, max_hops=4)
        ),
        "list by subject": lambda s: facts.list(context, models.FactsListRequest(**NAMES, subject=s)),
        "related": lambda s: facts.related(context, models.FactsRelatedRequest(**NAMES, entity=s)),
    }
    rival = None if options.without_ladybug else Rival(folder / "ladybug", store)
    theirs = [] if rival is None else [rival.traverse, rival.path, rival.list, rival.related]
    print(
        f"{options.observations:,} observations; ms: median, p99, median of CPU | Ladybug's, and its time over ours"
    )
    for place, (label, call) in enumerate(ours.items()):
        arguments = list(islice(pairs, options.walks)) if label.startswith("path") else ones
        print(row(label, timed(call, arguments), timed(theirs[place], arguments) if theirs else None))
    print(
        row(
            "list, unfiltered",
            timed(lambda: facts.list(context, models.FactsListRequest(**NAMES)), [()] * 3),
            None,
        )
    )
    print("a hop from the largest hub reads:", *plan(store, "entity 1"), sep="\n  ")


if __name__ == "__main__":
    main()
