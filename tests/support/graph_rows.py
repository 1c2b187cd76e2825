"""Graph rows put straight into the store, for tests of the reads: no write path in between."""

from __future__ import annotations

import itertools
import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from itertools import combinations
from pathlib import Path

from loom_core.canonical import canonicalise
from loom_core.clock import micros
from loom_core.settings import Settings
from loom_core.storage.migrate import migrate
from loom_core.storage.store import Store
from loom_core.tenancy import CallContext, Scope

START = micros(datetime(2025, 1, 1, tzinfo=UTC))


@cache
def embedded_store(folder: Path) -> Store:
    """The process's store, migrated. One chDB folder belongs to one process, and a process has but one."""
    settings = Settings(clickhouse_url=f"chdb://{folder}")
    store = Store(settings)
    migrate(store, settings)
    return store


@dataclass(frozen=True)
class Observation:
    """A pair or, with a relation, a triple, as a row version stated it. Instants in µs."""

    a: str
    b: str
    relation: str = ""
    memory_id: str = ""
    memory_key: str = ""
    valid_from: int = START
    valid_to: int | None = None
    invalid_at: int | None = None
    arrival: int = START
    span: int = 0
    confidence: float = 1.0
    adapter_name: str = "caller"
    provenance: str = "extracted"

    def holds(self, at: int) -> bool:
        """D2."""
        return (
            self.valid_from <= at
            and (self.valid_to is None or at < self.valid_to)
            and (self.invalid_at is None or at < self.invalid_at)
        )


def day(month: int, day_: int = 1, hour: int = 0) -> datetime:
    """A day of 2025."""
    return datetime(2025, month, day_, hour, tzinfo=UTC)


@dataclass
class GraphRows:
    """Collects observations of one namespace and inserts them all at once."""

    store: Store
    scope: Scope = field(default_factory=lambda: Scope("org", uuid.uuid4().hex))
    observations: list[Observation] = field(default_factory=list)
    _ids: Iterable[int] = field(default_factory=itertools.count)

    @property
    def context(self) -> CallContext:
        """A viewer's call."""
        return CallContext(self.scope)

    def row(
        self,
        key: str,
        entities: Iterable[str] = (),
        triples: Iterable[tuple[str, str, str]] = (),
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        closed: datetime | None = None,
        arrival: datetime | None = None,
        confidence: float = 1.0,
        adapter_name: str = "caller",
        provenance: str = "extracted",
    ) -> str:
        """What a row version of `key` projects; returns its memory id."""
        number = next(iter(self._ids))
        memory_id = f"id-{number:04}"
        arrived = START + number if arrival is None else micros(arrival)
        life = {
            "memory_id": memory_id,
            "memory_key": key,
            "valid_from": arrived if start is None else micros(start),
            "valid_to": None if end is None else micros(end),
            "invalid_at": None if closed is None else micros(closed),
            "arrival": arrived,
        }
        nodes = dict.fromkeys(name for entity in entities if (name := canonicalise(entity)))
        for a, b in combinations(nodes, 2):
            self.observations.append(Observation(*sorted((a, b)), **life))
        for subject, relation, object_ in triples:
            self.observations.append(
                Observation(
                    subject,
                    object_,
                    relation,
                    **life,
                    confidence=confidence,
                    adapter_name=adapter_name,
                    provenance=provenance,
                )
            )
        return memory_id

    def land(self) -> None:
        """Inserts what was collected: edges with their degrees, and triples. The views do the rest."""
        edges = [o for o in self.observations if not o.relation]
        triples = [o for o in self.observations if o.relation]
        common = ("memory_id", "span", "memory_key", "valid_from", "valid_to", "invalid_at", "arrival")
        self._insert(
            "entity_edges",
            ("entity_a", "entity_b", *common, "value_sha256", "ver"),
            [[o.a, o.b, *(getattr(o, name) for name in common), "", 1] for o in edges],
        )
        said = ("confidence", "adapter_name", "provenance")
        self._insert(
            "entity_triples",
            ("subject", "relation", "object", *common, *said, "value_sha256", "ver"),
            [
                [o.a, o.relation, o.b, *(getattr(o, name) for name in (*common, *said)), "", 1]
                for o in triples
            ],
        )
        self._insert(
            "entity_degree",
            ("generation", "entity", "degree"),
            [[0, entity, count] for entity, count in self.degrees().items()],
        )

    def degrees(self) -> Counter[str]:
        """Co-occurrence observations an entity has, of any time: the rows put here are all live."""
        return Counter(end for o in self.observations if not o.relation for end in (o.a, o.b))

    def _insert(self, table: str, columns: tuple[str, ...], rows: list[list[object]]) -> None:
        scoped = [[self.scope.org, self.scope.namespace, *row] for row in rows]
        self.store.insert(table, ("org", "namespace", *columns), scoped)
