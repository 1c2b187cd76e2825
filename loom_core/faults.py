"""Fault points, for tests only: `LOOM_FAULT=<projection or worker>:<step>:<raise|exit|hang>[:count][@memory_key]`.

A point is reached by name; without `LOOM_TESTING=1` reaching one does nothing. Several faults are separated by
commas. `count` is how many times the fault fires in this process (always, if absent). `@memory_key` fires only
while a unit of that key is at work, which is how a test makes one poison row among good ones.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache

from loom_core.settings import get_settings

SYNTAX = re.compile(
    r"(?P<part>\w+):(?P<step>\w+):(?P<action>raise|exit|hang)(:(?P<count>\d+))?(@(?P<key>.+))?"
)

POINTS: dict[str, str] = {
    "memory:land": "before the row is inserted",
    "memory:landed": "after the row is inserted, before anything is projected",
    "mentions:insert": "before the mentions go into entity_canonical_map",
    "edges:insert": "before the observations go into entity_edges",
    "edges:inserted": "after them",
    "degree:freeze": "before a batch's units are frozen",
    "degree:frozen": "after they are, before the batch is added",
    "degree:added": "after the batch is added",
    "triples:insert": "before the statements go into slot_statements",
    "triples:inserted": "after them, before their slots are derived",
    "closes:derive": "before a slot's stored intervals are read",
    "closes:insert": "before a slot's changed intervals go into entity_triples",
    "closes:inserted": "after them",
    "facts:insert": "before numeric facts go into derived_facts",
    "receipts:insert": "before the receipts are written",
    "erase:step": "before each step of an erasure",
    "entity_extractor:attempt": "after an attempt is recorded, before the extractor is asked",
    "entity_extractor:answer": "after the extractor answered, before the result is stored",
    "entity_extractor:stored": "after the result is stored, before it is projected",
    "projection_retry:attempt": "after an attempt is recorded, before the unit is projected",
    "projection_retry:projected": "after the unit is projected, before its outcome is written",
    "supersession_replay:attempt": "after an attempt is recorded, before the slots are derived",
    "supersession_replay:derived": "after they are, before the outcome is written",
    "entity_communities:read": "before the edges are read",
    "entity_communities:write": "before the pass is written",
    "entity_communities:written": "after the pass is written, before it is made visible",
    "tick:leased": "after a tick took its lease",
    "tick:report": "before a tick reports its outcome",
}
"""Every point outside the store layer. `store:insert_<table>` is reached before each INSERT as well."""


class InjectedFault(RuntimeError):
    """Raised by a fault of kind `raise`."""


@dataclass
class _Fault:
    point: str
    action: str
    left: int | None
    memory_key: str | None


_at_work: ContextVar[frozenset[str]] = ContextVar("_at_work", default=frozenset())


def parse(text: str) -> list[_Fault]:
    """The faults that `text` sets. Raises ValueError naming the part that is no fault or no known point."""
    faults = []
    for part in filter(None, (item.strip() for item in text.split(","))):
        match = SYNTAX.fullmatch(part)
        if match is None:
            raise ValueError(f"LOOM_FAULT: {part!r} is not <part>:<step>:<raise|exit|hang>[:count][@key]")
        point = f"{match['part']}:{match['step']}"
        if point not in POINTS and not point.startswith("store:insert_"):
            raise ValueError(f"LOOM_FAULT: unknown point {point!r}; `loom faults` lists them")
        count = int(match["count"]) if match["count"] else None
        faults.append(_Fault(point, match["action"], count, match["key"]))
    return faults


@lru_cache(maxsize=1)
def _active() -> list[_Fault]:
    settings = get_settings()
    return parse(settings.fault) if settings.testing else []


def reach(part: str, step: str) -> None:
    """Marks a point. Does what the fault set there says, if one is."""
    for fault in _active():
        if fault.point != f"{part}:{step}" or fault.left == 0:
            continue
        if fault.memory_key is not None and fault.memory_key not in _at_work.get():
            continue
        if fault.left is not None:
            fault.left -= 1
        if fault.action == "exit":
            os._exit(137)
        while fault.action == "hang":
            time.sleep(1)
        raise InjectedFault(f"fault at {fault.point}")


@contextmanager
def working_on(memory_keys: Iterable[str]) -> Iterator[None]:
    """Says which keys the code inside works on, for faults that name one."""
    token = _at_work.set(frozenset(memory_keys))
    try:
        yield
    finally:
        _at_work.reset(token)
