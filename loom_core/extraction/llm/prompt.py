"""The request made of a text: instructions from a versioned file, the text in a block it cannot close."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.resources import files
from string import Template
from typing import Any

from loom_core.extraction.outcomes import OntologyHints

PROMPT_VERSION = "extract_v1"
MAX_ENTITIES, MAX_RELATIONS, MAX_FACTS = 32, 8, 6
"""Eight triples fit a memory (the user's page); asking for more would pay for what is thrown away."""
_NAME_CHARS = 128


def messages(text: str, hints: OntologyHints) -> list[dict[str, str]]:
    """Chat messages for one text. The same text and hints give the same messages.

    The text's markers carry a hash of the text, so no text can hold the line that ends its own block.
    """
    # A lone surrogate has no place in a request's UTF-8.
    text = text.encode("utf-8", "replace").decode("utf-8")
    mark = hashlib.sha256(text.encode("utf-8")).hexdigest()[:24]
    data = f"<<<text {mark}>>>\n{text}\n<<<end {mark}>>>"
    return [{"role": "system", "content": _instructions(hints)}, {"role": "user", "content": data}]


@lru_cache(maxsize=64)
def _instructions(hints: OntologyHints) -> str:
    template = files("loom_core.extraction").joinpath(f"prompts/{PROMPT_VERSION}.md").read_text("utf-8")
    return Template(template).substitute(
        max_entities=MAX_ENTITIES, max_relations=MAX_RELATIONS, max_facts=MAX_FACTS, ontology=_ontology(hints)
    )


def _ontology(hints: OntologyHints) -> str:
    """The namespace's preferred names: used where they fit, never forced (the user's page: nothing is
    rejected).
    """
    preferred = [
        f"Preferred {what}, where one fits: {', '.join(names)}."
        for what, names in (
            ("entity types", hints.entity_types),
            ("relations", hints.verbs),
            ("attributes", hints.attributes),
        )
        if names
    ]
    return "\n".join(["", *preferred]) if preferred else ""


def response_format() -> dict[str, Any]:
    """The answer's JSON schema. Lengths and counts are bounded: small models loop without (measured)."""
    name = {"type": "string", "maxLength": _NAME_CHARS}
    short = {"type": "string", "maxLength": 64}
    maybe = {"type": ["string", "null"], "maxLength": 64}
    relation = {"subject": name, "relation": short, "object": name, "since": maybe, "until": maybe}
    fact = {"entity": name, "attribute": short, "value": {"type": "number"}, "unit": maybe, "date": maybe}
    lists = {
        "entities": _list_of({"name": name, "type": short}, MAX_ENTITIES),
        "relations": _list_of(relation, MAX_RELATIONS),
        "facts": _list_of(fact, MAX_FACTS),
    }
    return {"type": "json_schema", "json_schema": {"name": "extraction", "schema": _object(lists)}}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list_of(properties: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "maxItems": most, "items": _object(properties)}
