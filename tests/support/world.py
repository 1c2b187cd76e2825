"""A namespace as its users see it, without HTTP in between: the notation of the behaviour cases."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from loom_core import faults
from loom_core.facts import models as facts_models
from loom_core.facts.service import FactsService
from loom_core.memory import models
from loom_core.memory.service import MemoryService
from loom_core.memory.writer import Writer
from loom_core.namespace import models as namespace_models
from loom_core.namespace.service import NamespaceDecisions
from loom_core.projection.verify import Report, verify
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tenancy import CallContext, Scope


def day(text: str) -> datetime:
    """`2025-10-01`, or `Oct 1` of 2025."""
    form = "%Y-%m-%d" if text[0].isdigit() else "%Y %b %d"
    return datetime.strptime(text if text[0].isdigit() else f"2025 {text}", form).replace(tzinfo=UTC)


@dataclass
class World:
    """One namespace. `settings` decide retries; wake-ups are noted, nobody hears them."""

    store: Store
    settings: Settings
    scope: Scope = field(default_factory=lambda: Scope("org", uuid.uuid4().hex))
    woken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context = CallContext(self.scope, agent="tester", role="admin")
        self.memory = MemoryService(
            Writer(self.store, self.settings, lambda name, _: self.woken.append(name))
        )
        self.facts = FactsService(self.store, self.settings)
        self.decisions = NamespaceDecisions(self.store)
        self.names = {"org": self.scope.org, "namespace": self.scope.namespace}

    def set(
        self,
        key: str,
        value: Any = "text",
        E: Sequence[str] | None = None,
        R: Sequence[Any] | None = None,
        **more: Any,
    ) -> models.MemorySetResponse:
        """`set key: value | E[…] | R[…]`."""
        request = models.MemorySetRequest(
            **self.names, memory_key=key, value=value, entities=E, relations=R, **more
        )
        return self.memory.set(self.context, request)

    def set_many(self, *entries: dict[str, Any]) -> models.MemorySetManyResponse:
        request = models.MemorySetManyRequest(**self.names, entries=list(entries))
        return self.memory.set_many(self.context, request)

    def update(self, key: str, **named: Any) -> models.MemoryUpdateResponse:
        return self.memory.update(
            self.context, models.MemoryUpdateRequest(**self.names, memory_key=key, **named)
        )

    def get(self, key: str) -> models.MemoryGetResponse:
        return self.memory.get(self.context, models.MemoryKeyRequest(**self.names, memory_key=key))

    def history(self, key: str) -> list[models.MemoryVersion]:
        request = models.MemoryKeyRequest(**self.names, memory_key=key)
        return self.memory.history(self.context, request).versions

    def delete(self, key: str) -> models.MemoryDeleteResponse:
        return self.memory.delete(self.context, models.MemoryKeyRequest(**self.names, memory_key=key))

    def restore(self, key: str, **target: Any) -> models.MemoryRestoreResponse:
        request = models.MemoryRestoreRequest(**self.names, memory_key=key, **target)
        return self.memory.restore(self.context, request)

    def erase(self, key: str) -> models.MemoryEraseResponse:
        return self.memory.erase(self.context, models.MemoryKeyRequest(**self.names, memory_key=key))

    def list(self, **filters: Any) -> list[facts_models.FactRow]:
        """`facts.list`."""
        return self.facts.list(self.context, facts_models.FactsListRequest(**self.names, **filters)).rows

    def objects(self, subject: str = "user", relation: str = "live_in", **more: Any) -> dict[str, int]:
        """The objects that hold, with their co_occur."""
        return {row.object: row.co_occur for row in self.list(subject=subject, relation=relation, **more)}

    def related(self, entity: str, **more: Any) -> dict[str, int]:
        """`facts.related`: neighbours with their co_occur."""
        request = facts_models.FactsRelatedRequest(**self.names, entity=entity, **more)
        return {each.entity: each.co_occur for each in self.facts.related(self.context, request).related}

    def expire(self, adapter: str, max_confidence: float = 1.0) -> tuple[int, int]:
        request = facts_models.FactsExpireByAdapterRequest(
            **self.names, adapter_name=adapter, max_confidence=max_confidence
        )
        answer = self.facts.expire_by_adapter(self.context, request)
        return answer.expired_triples, answer.expired_triple_memories

    def ontology(self, **cardinalities: str) -> None:
        relations = [{"name": name, "cardinality": each} for name, each in cardinalities.items()]
        self.decisions.register_ontology(
            self.context,
            namespace_models.NamespaceRegisterOntologyRequest(**self.names, relations=relations),
        )

    def alias(self, alias: str, entity: str, remove: bool = False) -> int:
        request = namespace_models.NamespaceAliasRequest(
            **self.names, alias=alias, entity=entity, remove=remove
        )
        return self.decisions.alias(self.context, request).moved

    def degrees(self) -> dict[str, int]:
        """Degree by entity, zeros left out."""
        rows = self.store.rows(
            "SELECT entity, sum(degree) FROM loom.entity_degree WHERE org = {org:String} AND namespace = "
            "{namespace:String} AND generation = (SELECT maxIf(generation, state = 'current') FROM "
            "loom.degree_generations WHERE org = {org:String} AND namespace = {namespace:String}) GROUP BY entity",
            **self.names,
        )
        return {entity: int(total) for entity, total in rows if total}

    def failures(self) -> dict[tuple[str, str], str]:
        """(key, projection) → state."""
        rows = self.store.rows(
            "SELECT memory_key, `projection`, state FROM loom.memory_projection_failures FINAL "
            "WHERE org = {org:String} AND namespace = {namespace:String}",
            **self.names,
        )
        return {(key, projection): state for key, projection, state in rows}

    def count(self, table: str) -> int:
        """Rows of a table in this namespace, as FINAL sees them."""
        sql = f"SELECT count() FROM loom.{table} FINAL WHERE org = {{org:String}} AND namespace = {{namespace:String}}"
        return int(self.store.rows(sql, **self.names)[0][0])

    def verified(self) -> Report:
        """`loom verify`; fails with the differences where there are any."""
        report = verify(self.store, self.scope)
        assert report.clean, (dict(report.differences), report.examples)
        return report


@contextmanager
def fault(monkeypatch: pytest.MonkeyPatch, text: str) -> Any:
    """Sets a fault for the code inside."""
    found = faults.parse(text)
    with monkeypatch.context() as patch:
        patch.setattr(faults, "_active", lambda: found)
        yield
