"""One item of a model's answer, under whatever key names the model chose. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from loom_core.canonical import NAME_LIMIT, normalise_relation

Kind = Literal["entities", "relations", "facts"]

_LIST_KEYS: dict[str, Kind] = {
    **dict.fromkeys(("entities", "entity", "nodes", "mentions", "namedentities"), "entities"),
    **dict.fromkeys(
        ("relations", "relation", "relationships", "triples", "triplets", "edges", "statements"), "relations"
    ),
    **dict.fromkeys(("facts", "numericfacts", "numbers", "measurements", "quantities"), "facts"),
}
_NAME = ("name", "entityname", "entity", "text", "mention", "label", "title", "value", "id")
_TYPE = ("type", "entitytype", "category", "class", "kind")
_SUBJECT = ("subject", "source", "head", "from", "src", "sourceentity", "subj", "s", "entity1", "start")
_RELATION = (
    "relation",
    "predicate",
    "verb",
    "relationship",
    "rel",
    "edge",
    "r",
    "p",
    "relationtype",
    "type",
    "label",
)
_OBJECT = ("object", "target", "tail", "to", "dst", "targetentity", "obj", "o", "entity2", "end")
_SINCE = ("since", "validfrom", "startdate", "begin", "date", "when")
_UNTIL = ("until", "validto", "enddate")
_ATTRIBUTE = ("attribute", "property", "metric", "key", "measure")


@dataclass(frozen=True, slots=True)
class Named:
    """An entity as the model wrote it."""

    name: str
    type: str | None


@dataclass(frozen=True, slots=True)
class Stated:
    """A relation as the model wrote it, the verb in stored form; `since`, `until`: words of the text."""

    subject: str
    relation: str
    object: str
    past: bool
    since: str | None
    until: str | None


@dataclass(frozen=True, slots=True)
class Measured:
    """A numeric fact as the model wrote it."""

    entity: str
    attribute: str
    value: float
    unit: str | None
    date: str | None


def list_kind(key: str) -> Kind | None:
    """Which of the three lists a top-level key stands for."""
    return _LIST_KEYS.get(_bare(key))


def as_list(value: Any) -> list[Any] | None:
    """A list as such, null as an empty one, `{"person": ["Anna"]}` as typed items; else None."""
    if value is None:
        return []
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping) and all(isinstance(v, list) for v in value.values()):
        return [
            {**item, "type": key} if isinstance(item, Mapping) else {"name": item, "type": key}
            for key, listed in value.items()
            for item in listed
        ]
    return None


def item_kind(item: Any) -> Kind:
    """What an item of a bare list is: three strings or a subject make a relation, an attribute a fact."""
    if isinstance(item, list):
        return "relations"
    if isinstance(item, Mapping):
        keys = {_bare(k) for k in item}
        if keys & set(_ATTRIBUTE) and "value" in keys:
            return "facts"
        if keys & set(_SUBJECT) and keys & {*_OBJECT, *_RELATION}:
            return "relations"
    return "entities"


def named(item: Any) -> Named | None:
    """An entity, or None for an item without a usable name."""
    if isinstance(item, str):
        item = {"name": item}
    fields = _fields(item)
    name = _text(fields, _NAME)
    if name is None:
        return None
    kind = _text(fields, _TYPE)
    return Named(name, kind.casefold().replace(" ", "_") if kind else None)


def stated(item: Any) -> Stated | None:
    """A relation, or None where an end or the verb is missing, too long, or has no stored form."""
    if isinstance(item, list):
        item = dict(zip(("subject", "relation", "object", "since", "until"), item, strict=False))
    fields = _fields(item)
    subject, verb, obj = (_text(fields, keys) for keys in (_SUBJECT, _RELATION, _OBJECT))
    if subject is None or verb is None or obj is None:
        return None
    relation, past = normalise_relation(verb)
    if not relation:
        return None
    return Stated(subject, relation, obj, past, _text(fields, _SINCE), _text(fields, _UNTIL))


def measured(item: Any) -> Measured | None:
    """A numeric fact, or None where a part is missing or the value is no finite number."""
    fields = _fields(item)
    entity = _text(fields, (*_SUBJECT, "entity", "entityname", "name"))
    attribute = _text(fields, _ATTRIBUTE)
    try:
        value = float(str(fields.get("value", "")).replace(",", ""))
    except ValueError:
        return None
    if entity is None or attribute is None or not math.isfinite(value):
        return None
    return Measured(entity, attribute, value, _text(fields, ("unit", "units")), _text(fields, _SINCE))


def _fields(item: Any) -> dict[str, Any]:
    return {_bare(k): v for k, v in item.items()} if isinstance(item, Mapping) else {}


def _text(fields: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    """The first of the keys that holds words of a storable length."""
    for key in keys:
        value = fields.get(key)
        if isinstance(value, Mapping):
            value = _text(_fields(value), _NAME)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str) and value.strip():
            return value.strip() if len(value.strip()) <= NAME_LIMIT else None
    return None


def _bare(key: Any) -> str:
    return re.sub(r"[^a-z0-9]", "", str(key).casefold())
