"""What goes into an extractor and what comes out, one outcome per text and in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from loom_core.extraction.persons import Role
from loom_core.extraction.results import Extraction


@dataclass(frozen=True, slots=True)
class OntologyHints:
    """The names a namespace prefers (`namespace.register_ontology`): asked for, never enforced."""

    entity_types: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A text to read. `at` is the instant its relative dates refer to; `role` decides who "I" is.

    `known_memories` are values stored before: an assistant's turn that recites one adds no weight to it.
    """

    text: str
    at: datetime | None = None
    role: Role = None
    hints: OntologyHints = OntologyHints()
    known_memories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text was read. `partly` counts items of the answer that were unusable and left out.

    `cost_usd` is None where the model's price is unknown; a cached answer costs 0.
    """

    extraction: Extraction
    model: str
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    partly: int = 0


@dataclass(frozen=True, slots=True)
class Retry:
    """Not read this time. `counts` is False for a rate limit or an outage: no try of the row (D35)."""

    error_class: str
    message: str
    retry_after_s: float | None = None
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Permanent:
    """Will never be read as things stand. With `stops_all` the fault is the setup's (key, model name):
    no further text was tried, and none is the row's fault."""

    error_class: str
    message: str
    stops_all: bool = False


Outcome = Extracted | Retry | Permanent


class Extractor(Protocol):
    """Reads texts. `id` is the `adapter_name` of what it finds; `prompt_version` names its rules."""

    @property
    def id(self) -> str: ...

    @property
    def prompt_version(self) -> str: ...

    def extract_many(self, texts: Iterable[Source]) -> Iterator[Outcome]:
        """One outcome per text, in order; texts are drawn as they are needed, a bad one hurts no other."""
        ...
