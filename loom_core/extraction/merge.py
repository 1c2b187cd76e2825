"""The union of what two extractors found in one text; where they agree, confidence rises.

Measured on sentences about software and people: either alone misses much, what both found was always right,
and the union finds most. So all is kept, and what both found comes first where only eight triples fit (D39).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from loom_core.canonical import canonicalise, normalise_relation
from loom_core.extraction.results import Entity, Extraction, Relation


def agreed(one: float, other: float) -> float:
    """Confidence in what two independent readers found: the chance that not both are wrong."""
    return round(1 - (1 - one) * (1 - other), 4)


def union(first: Extraction, second: Extraction) -> Extraction:
    """Everything in either; `first` decides names, types and dates where both found the same."""
    return Extraction(
        _entities(first.entities, second.entities),
        _relations(first.relations, second.relations),
        first.facts + tuple(f for f in second.facts if f not in first.facts),
    )


def _entities(first: Iterable[Entity], second: Iterable[Entity]) -> tuple[Entity, ...]:
    merged = {_node(e.name): e for e in first}
    for entity in second:
        known = merged.get(_node(entity.name))
        if known is None:
            merged[_node(entity.name)] = entity
        else:
            confidence = agreed(known.confidence, entity.confidence)
            merged[_node(entity.name)] = replace(known, type=known.type or entity.type, confidence=confidence)
    return tuple(merged.values())


def _relations(first: Iterable[Relation], second: Iterable[Relation]) -> tuple[Relation, ...]:
    merged = {_triple(r): r for r in first}
    for relation in second:
        known = merged.get(_triple(relation))
        if known is None:
            merged[_triple(relation)] = relation
        else:
            merged[_triple(relation)] = replace(
                known,
                valid_from=known.valid_from or relation.valid_from,
                valid_to=known.valid_to or relation.valid_to,
                past=known.past or relation.past,
                confidence=agreed(known.confidence, relation.confidence),
            )
    return tuple(merged.values())


def _node(name: str) -> str:
    return canonicalise(name) or name.casefold()


def _triple(relation: Relation) -> tuple[str, str, str]:
    return _node(relation.subject), normalise_relation(relation.relation)[0], _node(relation.object)
