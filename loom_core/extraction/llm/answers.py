"""A model's answer, on its good and its bad days, as entities, relations and facts. Pure.

litellm hands on whatever came: None, fences, a reasoning block, half an object, the schema itself. An answer
is used, used in part with what was left out counted, or unusable; whether it is then asked for again is not
decided here. Broken JSON is mended by `json_repair`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loom_core.extraction.llm import items
from loom_core.extraction.llm.items import Measured, Named, Stated

MAX_ANSWER_CHARS = 200_000

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_CLOSED_THOUGHT = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCED = re.compile(r"```[\w-]*\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
# The escapes a name can mean. A lone `\f` or `\b`, or `\n` at the start of a string, is LaTeX (`\frac`).
_ESCAPE = re.compile(r'(?!(?<=")\\[nrt][a-z])\\(?:["\\/nrt]|u[0-9a-fA-F]{4})|\\')


class UnusableAnswer(ValueError):
    """Nothing in the answer can be used. `reason` is one word for the failure log; asking again may help."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said, not yet held against the text. `skipped` counts items of no usable form."""

    entities: tuple[Named, ...] = ()
    relations: tuple[Stated, ...] = ()
    facts: tuple[Measured, ...] = ()
    skipped: int = 0


def parse_answer(content: str | None, finish_reason: str | None = "stop") -> Answer:
    """Read an answer's text. Raises UnusableAnswer where there is nothing to read.

    `{"entities": [], "relations": []}` is an answer: the model found nothing. An empty string is none. In an
    answer that was cut off the last item may be half of itself, so it counts as skipped.
    """
    text = _answer_proper(content)
    if not text:
        raise UnusableAnswer("empty", "the model answered with no text")
    value, cut = _load(text[:MAX_ANSWER_CHARS])
    lists = _lists(value)
    if lists is None:
        raise UnusableAnswer("no_extraction", f"no entities or relations in the answer: {text[:200]!r}")
    cut = cut or finish_reason == "length"
    return _answer(lists, cut)


def _answer_proper(content: str | None) -> str:
    """Without reasoning blocks and fences."""
    text = _THOUGHT.sub("", content or "")
    if closed := list(_CLOSED_THOUGHT.finditer(text)):
        text = text[closed[-1].end() :]
    if opened := _OPEN_THOUGHT.search(text):
        text = text[: opened.start()]
    for fenced in _FENCED.finditer(text):
        if "{" in fenced[1] or "[" in fenced[1]:
            return fenced[1].strip()
    return text.strip()


def _load(text: str) -> tuple[Any, bool]:
    """The first JSON value in the text, and whether it was cut off."""
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    if start < 0:
        raise UnusableAnswer("no_json", f"no JSON in the answer: {text[:200]!r}")
    body = _ESCAPE.sub(lambda m: m[0] if len(m[0]) > 1 else "\\\\", text[start:])
    cut = False
    try:
        return json.JSONDecoder(strict=False).raw_decode(body)[0], False
    except json.JSONDecodeError as error:
        cut = error.pos >= len(body.rstrip()) or error.msg.startswith("Unterminated")
    except RecursionError:
        raise UnusableAnswer("too_deep", "the answer is nested too deeply to read") from None
    from json_repair import repair_json

    try:
        return repair_json(body, return_objects=True, skip_json_loads=True), cut
    except RecursionError:
        raise UnusableAnswer("too_deep", "the answer is nested too deeply to read") from None


def _lists(value: Any) -> dict[str, list[Any]] | None:
    """The three lists of an answer, wherever the model put them; None where it put none."""
    if isinstance(value, Mapping):
        return _named_lists(value) or _named_lists(_inner(value)) or _lone_item(value)
    if not isinstance(value, list) or not all(isinstance(i, Mapping | list | str) for i in value):
        return None
    found: dict[str, list[Any]] = {"entities": [], "relations": [], "facts": []}
    for item in value:
        parts = _named_lists(item) if isinstance(item, Mapping) else None
        for kind, part in (parts or {items.item_kind(item): [item]}).items():
            found[kind] += part
    return found


def _named_lists(value: Mapping[str, Any]) -> dict[str, list[Any]] | None:
    found: dict[str, list[Any] | None] = {
        kind: items.as_list(v) for key, v in value.items() if (kind := items.list_kind(key))
    }
    lists = {kind: v for kind, v in found.items() if v is not None}
    return lists if lists and len(lists) == len(found) else None


def _inner(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a lone wrapper (`{"result": …}`) or a schema that was filled in holds."""
    inner = value.get("properties") or (next(iter(value.values())) if len(value) == 1 else None)
    return inner if isinstance(inner, Mapping) else {}


def _lone_item(value: Mapping[str, Any]) -> dict[str, list[Any]] | None:
    kind: str = items.item_kind(value)
    return {kind: [value]} if any((items.named(value), items.stated(value), items.measured(value))) else None


def _answer(lists: Mapping[str, list[Any]], cut: bool) -> Answer:
    entities = [items.named(i) for i in lists.get("entities", ())]
    relations = [items.stated(i) for i in lists.get("relations", ())]
    facts = [items.measured(i) for i in lists.get("facts", ())]
    if cut:
        last: list[Any] = next((found for found in (facts, relations, entities) if found), [])
        last[-1:] = [None] if last else []
    every: list[Any] = [*entities, *relations, *facts]
    return Answer(
        tuple(e for e in entities if e is not None),
        tuple(r for r in relations if r is not None),
        tuple(f for f in facts if f is not None),
        skipped=sum(item is None for item in every),
    )
