"""The local extractor: rules and the spaCy pipeline, no key and no network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from loom_core.extraction.local import pipeline
from loom_core.extraction.local.clauses import statements
from loom_core.extraction.local.markup import blocks
from loom_core.extraction.local.mentions import mentions
from loom_core.extraction.local.phrases import argument
from loom_core.extraction.outcomes import Extracted, Outcome, Source
from loom_core.extraction.results import Entity, Extraction, Relation

if TYPE_CHECKING:
    from spacy.tokens import Doc

RULES_VERSION = "rules-1"
MAX_ENTITIES = 200
MAX_RELATIONS = 64
_ZONE_TEXTS = 64


class SpacyExtractor:
    """Reads texts with one spaCy pipeline; loads it at the first text."""

    def __init__(self, model: str = pipeline.DEFAULT_MODEL) -> None:
        self._model = model
        self.id = f"spacy/{model}"
        self.prompt_version = RULES_VERSION

    def extract_many(self, texts: Iterable[Source]) -> Iterator[Outcome]:
        source = iter(texts)
        while batch := list(islice(source, _ZONE_TEXTS)):
            yield from [Extracted(e.credited_to(self.id), self.id) for e in self._read(batch)]

    def _read(self, batch: list[Source]) -> list[Extraction]:
        nlp = pipeline.load(self._model)
        pieces = [(i, b) for i, s in enumerate(batch) for b in blocks(s.text)]
        found: list[list[tuple[int, Entity]]] = [[] for _ in batch]
        relations: list[list[Relation]] = [[] for _ in batch]
        with pipeline.LOCK, nlp.memory_zone():
            for doc, (i, block) in zip(nlp.pipe([b.text for _, b in pieces]), pieces, strict=True):
                found[i] += [(0, Entity(tag, None, 0.6)) for tag in block.tags]
                found[i] += sorted(mentions(doc), key=lambda m: m[0])
                relations[i] += _relations(doc)
        return [
            Extraction(_unique(e for _, e in found[i])[:MAX_ENTITIES], tuple(relations[i][:MAX_RELATIONS]))
            for i in range(len(batch))
        ]


def _relations(doc: Doc) -> Iterator[Relation]:
    for s in statements(doc):
        subject, obj = argument(s.subject).text, argument(s.object).text
        if subject and obj:
            words = [s.verb.lower_] + ([s.preposition.lower_] if s.preposition is not None else [])
            yield Relation(
                subject, re.sub(r"\W+", "_", "_".join(words)), obj, past=s.past, confidence=s.confidence
            )


def _unique(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    best: dict[str, Entity] = {}
    for entity in entities:
        key = entity.name.casefold()
        if key not in best:
            best[key] = entity
    return tuple(best.values())
