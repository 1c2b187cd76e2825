"""Puts a batch's texts to the extractor, as long as there is time; each alone where one breaks the batch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import structlog

from loom_core import clock, faults
from loom_core.coordination.work import Deadline
from loom_core.errors import Unavailable
from loom_core.extraction.local.pipeline import PipelineMissing
from loom_core.extraction.outcomes import (
    Extracted,
    Extractor,
    OntologyHints,
    Outcome,
    Permanent,
    Retry,
    Source,
)
from loom_core.extraction.results import Extraction
from loom_core.graph.ontology import Ontology
from loom_core.memory.rows import MemoryRow, text_of
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

log = structlog.get_logger(__name__)

KNOWN_VALUES = 100
"""How many values of its session an assistant's turn is held against."""


def ask(
    extractor: Extractor, rows: Sequence[MemoryRow], sources: Mapping[str, Source], deadline: Deadline
) -> dict[str, Outcome]:
    """The outcome of each row's text, by memory id; rows that time did not suffice for have none.

    Raises `Unavailable` where the fault is the setup's: no row is to blame then.
    """
    outcomes: dict[str, Outcome] = {
        row.memory_id: Extracted(Extraction(), extractor.id) for row in rows if not row.text().strip()
    }
    asked = [row for row in rows if row.memory_id not in outcomes]
    if not asked:
        return outcomes
    try:
        outcomes |= _asked(extractor, asked, sources, deadline)
    except Unavailable:
        raise
    except PipelineMissing as error:
        raise _setup_is_wrong(type(error).__name__) from error
    except Exception as error:  # one text that breaks the extractor must not cost its neighbours theirs
        log.warning("extraction_failed", texts=len(asked), error_class=type(error).__name__)
        if len(asked) == 1:
            return outcomes | {asked[0].memory_id: Retry(type(error).__name__, "the extractor broke")}
        for row in asked:
            outcomes |= ask(extractor, [row], sources, deadline)
    return outcomes


def _asked(
    extractor: Extractor, rows: Sequence[MemoryRow], sources: Mapping[str, Source], deadline: Deadline
) -> dict[str, Outcome]:
    drawn: list[str] = []

    def texts() -> Iterator[Source]:
        for row in rows:
            if deadline.passed():
                return
            drawn.append(row.memory_id)
            yield sources[row.memory_id]

    outcomes: dict[str, Outcome] = {}
    with faults.working_on(row.memory_key for row in rows):
        faults.reach("entity_extractor", "attempt")
        answers = extractor.extract_many(texts())
        for position, outcome in enumerate(answers):
            if isinstance(outcome, Permanent) and outcome.stops_all:
                raise _setup_is_wrong(outcome.error_class)
            outcomes[drawn[position]] = outcome
            if deadline.passed():
                break
        faults.reach("entity_extractor", "answer")
    return outcomes


def _setup_is_wrong(error_class: str) -> Unavailable:
    # The class only: a provider's message may quote the key.
    return Unavailable("extractor_refuses", f"{error_class}: check LOOM_LLM_* and LOOM_SPACY_MODEL")


def sources_of(
    store: Store, scope: Scope, rows: Sequence[MemoryRow], ontology: Ontology
) -> dict[str, Source]:
    """What the extractor is given of each row, by memory id."""
    hints = OntologyHints(ontology.entity_types, tuple(ontology.relations), tuple(ontology.attributes))
    return {
        row.memory_id: Source(
            row.text(),
            clock.instant(row.arrival if row.valid_at is None else row.valid_at),
            "assistant" if row.role == "assistant" else "user" if row.role == "user" else None,
            hints,
            _known_values(store, scope, row) if row.role == "assistant" else (),
        )
        for row in rows
    }


def _known_values(store: Store, scope: Scope, row: MemoryRow) -> tuple[str, ...]:
    lines = store.rows(
        sql("tagging.values_before"),
        org=scope.org, namespace=scope.namespace, session=row.session_id, before=row.arrival,
        limit=KNOWN_VALUES,
    )  # fmt: skip
    return tuple(text_of(json.loads(value)) for (value,) in lines)
