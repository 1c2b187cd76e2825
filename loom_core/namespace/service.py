"""The `namespace.*` ops that decide: aliases, ontology, configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loom_core import clock
from loom_core.canonical import canonicalise, normalise_relation
from loom_core.errors import Conflict, Invalid
from loom_core.graph.ontology import Ontology
from loom_core.memory.rows import digest
from loom_core.namespace import models
from loom_core.projection.expire import record_event
from loom_core.projection.inputs import read_context
from loom_core.projection.recanonicalise import rows_to_move
from loom_core.projection.slots import derive_slots
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import CallContext


class NamespaceDecisions:
    """What admins decide for a namespace. Each decision is an event; what follows from it is derived."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def alias(
        self, context: CallContext, request: models.NamespaceAliasRequest
    ) -> models.NamespaceAliasResponse:
        """Makes one canonical entity another name of a second (D21).

        Raises `Conflict` for a cycle, and for the removal of an alias that leads elsewhere.
        """
        scope = context.scope
        alias, entity = _form("alias", request.alias), _form("entity", request.entity)
        if alias == entity:
            raise Invalid("same_entity", "entity: alias and entity have the same canonical form")
        known = read_context(self._store, scope)
        if not request.remove and known.node(entity) == alias:
            raise Conflict("alias_cycle", f"entity: {entity!r} already leads to {alias!r}")
        target = known.aliases.get(alias)
        if request.remove and target and entity not in (target, known.node(alias)):
            raise Conflict(
                "alias_of_another", f"entity: {alias!r} is an alias of {target!r}, not of {entity!r}"
            )
        at = clock.now()
        self._store.insert(
            "entity_aliases",
            ("org", "namespace", "alias", "entity", "event_id", "at", "agent"),
            [[scope.org, scope.namespace, alias, "" if request.remove else entity,
              digest("alias", alias, entity, str(at)), at, context.agent or ""]],
        )  # fmt: skip
        moved = len(rows_to_move(self._store, scope, read_context(self._store, scope)))
        return models.NamespaceAliasResponse(alias=alias, entity=entity, moved=moved)

    def register_ontology(
        self, context: CallContext, request: models.NamespaceRegisterOntologyRequest
    ) -> models.NamespaceRegisterOntologyResponse:
        """Merges a registration by name (D14) and derives the slots whose cardinality it changes."""
        scope = context.scope
        before = Ontology.merged(read_context(self._store, scope).ontologies)
        payload = {
            "entity_types": list(request.entity_types),
            "relations": [_declared("relations", index, each) for index, each in enumerate(request.relations)],
            "attributes": [_declared("attributes", index, each) for index, each in enumerate(request.attributes)],
        }  # fmt: skip
        record_event(self._store, scope, "ontology", payload, clock.now(), context.agent or "")
        after = Ontology.merged(read_context(self._store, scope).ontologies)
        named = {**after.relations, **after.attributes}
        changed = [name for name in named if before.cardinality(name) != after.cardinality(name)]
        if changed:
            lines = self._store.rows(
                sql("projection.slots_of_relations"),
                org=scope.org,
                namespace=scope.namespace,
                relations=changed,
            )
            derive_slots(self._store, scope, {(s, r, o) for s, r, o in lines})
        return models.NamespaceRegisterOntologyResponse(
            entity_types=list(after.entity_types),
            relations=_named(after.relations),
            attributes=_named(after.attributes),
        )

    def configure(
        self, context: CallContext, request: models.NamespaceConfigureRequest
    ) -> models.NamespaceConfigureResponse:
        """Sets whether the namespace is clustered without being walked (D45)."""
        record_event(
            self._store, context.scope, "configure", {"consolidation": request.consolidation}, clock.now(),
            context.agent or "",
        )  # fmt: skip
        return models.NamespaceConfigureResponse(consolidation=request.consolidation)


def _form(field: str, text: str) -> str:
    form = canonicalise(text)
    if form is None:
        raise Invalid("no_canonical_form", f"{field}: no canonical form, or longer than 256 characters")
    return form


def _declared(kind: str, index: int, declared: models.Declared) -> dict[str, Any]:
    name, _ = normalise_relation(declared.name)
    if not name:
        raise Invalid("no_canonical_form", f"{kind}[{index}].name: names no verb or attribute")
    return {"name": name, "cardinality": declared.cardinality}


def _named(cardinalities: Mapping[str, Any]) -> list[models.DeclaredName]:
    return [models.DeclaredName(name=name, cardinality=each) for name, each in sorted(cardinalities.items())]
