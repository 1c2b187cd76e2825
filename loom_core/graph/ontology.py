"""What a namespace's ontology says: how many values a relation holds at once, which names it prefers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Cardinality = Literal["one", "many"]

DEFAULT_ONE = frozenset(
    (
        "work_at",
        "employ_by",
        "live_in",
        "reside_in",
        "base_in",
        "locate_in",
        "marry_to",
        "employer",
        "location",
    )
)
"""Relations that hold one value at a time unless a namespace says otherwise (D14), as they are stored."""


@dataclass(frozen=True, slots=True)
class Ontology:
    """All that was registered for a namespace: entity types, and verbs and attributes with their
    cardinality."""

    entity_types: tuple[str, ...] = ()
    relations: Mapping[str, Cardinality] = field(default_factory=dict)
    attributes: Mapping[str, Cardinality] = field(default_factory=dict)

    @classmethod
    def merged(cls, registrations: Iterable[Mapping[str, Any]]) -> Ontology:
        """The ontology of `registrations`, oldest first: "it merges by name" and the last to name one
        decides (D14).

        A registration has `entity_types` [str], `relations` and `attributes` [{name, cardinality}], each
        optional; relations and attributes are named as they are stored.
        """
        types: dict[str, None] = {}
        relations: dict[str, Cardinality] = {}
        attributes: dict[str, Cardinality] = {}
        for registration in registrations:
            types |= dict.fromkeys(type_name(each) for each in registration.get("entity_types", ()))
            for kind, named in (("relations", relations), ("attributes", attributes)):
                named.update({each["name"]: each["cardinality"] for each in registration.get(kind, ())})
        return cls(tuple(types), relations, attributes)

    def cardinality(self, relation: str) -> Cardinality:
        """How many values `relation`, as stored, holds at once: as registered, else D14's default, else many.

        A noun stored as a relation (`employer`) is an attribute: it may be registered as either, the verb
        first.
        """
        registered = self.relations.get(relation) or self.attributes.get(relation)
        return registered or ("one" if relation in DEFAULT_ONE else "many")

    def facet(self, entity_type: str) -> str | None:
        """The object of (entity, is_a, type) where this ontology names the type of an entity, else None
        (D24)."""
        name = type_name(entity_type)
        return name if name in self.entity_types else None

    def warnings(
        self,
        *,
        entity_types: Iterable[str] = (),
        relations: Iterable[str] = (),
        attributes: Iterable[str] = (),
    ) -> list[str]:
        """`ontology_warnings`: "Names outside the set produce ontology_warnings; nothing is rejected".

        Only a kind of name that the namespace has registered any of is judged. One warning a name, in the
        order they are given.
        """
        verbs = {*self.relations, *self.attributes} if self.relations else set()
        return [
            *_outside("entity type", [type_name(each) for each in entity_types], self.entity_types),
            *_outside("relation", relations, verbs),
            *_outside("attribute", attributes, self.attributes),
        ]


def type_name(text: str) -> str:
    """An entity type as it is compared and stored: `Service`, `service` and `SERVICE` are one."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _outside(kind: str, names: Iterable[str], known: Iterable[str]) -> Sequence[str]:
    preferred = set(known)
    if not preferred:
        return []
    return [
        f"{kind} {name!r} is not in the ontology" for name in dict.fromkeys(names) if name not in preferred
    ]
