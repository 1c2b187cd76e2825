"""The local extractor: rules and the spaCy pipeline, no key and no network."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from loom_core.canonical import canonicalise
from loom_core.extraction.dates import expressions
from loom_core.extraction.local import pipeline
from loom_core.extraction.local.antecedents import Antecedents
from loom_core.extraction.local.markup import Block, blocks
from loom_core.extraction.local.measures import measures
from loom_core.extraction.local.mentions import Mention, mentions, named_end
from loom_core.extraction.local.quantities import quantities
from loom_core.extraction.local.relations import relations
from loom_core.extraction.local.titles import as_sentence
from loom_core.extraction.outcomes import Extracted, Outcome, Permanent, Source
from loom_core.extraction.persons import USER
from loom_core.extraction.recitals import without_recitals
from loom_core.extraction.results import Entity, Extraction, Fact, Relation

if TYPE_CHECKING:
    from spacy.tokens import Doc

RULES_VERSION = "rules-2"
MAX_ENTITIES = 200
MAX_RELATIONS = 64
MAX_FACTS = 64
_ZONE_CHARS = 64_000
_ZONE_BLOCKS = 512
_SURE = 0.5
_TEXT_FAULTS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What a text may make a rule or the pipeline raise; not a time limit, which is nobody's fault."""


@dataclass(slots=True)
class _Reading:
    """What was found so far in one text."""

    source: Source
    entities: dict[str, Entity] = field(default_factory=dict)
    relations: dict[Relation, None] = field(default_factory=dict)
    facts: dict[Fact, None] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    failed: Permanent | None = None
    complete: bool = False

    def full(self) -> bool:
        """More text would add nothing that is kept: pairs and triples are cut in order (D19, D39)."""
        return self.failed is not None or len(self.entities) >= MAX_ENTITIES

    def outcome(self, extractor: str) -> Outcome:
        if self.failed is not None:
            return self.failed
        surest = set(sorted(self.relations, key=lambda r: -r.confidence)[:MAX_RELATIONS])
        found = Extraction(
            tuple(self.entities.values())[:MAX_ENTITIES],
            tuple(r for r in self.relations if r in surest),
            tuple(self.facts)[:MAX_FACTS],
        )
        return Extracted(found.credited_to(extractor), extractor)


class SpacyExtractor:
    """Reads texts with one spaCy pipeline, loaded at the first text.

    Texts are parsed a zone at a time, and what spaCy remembers of a zone's words is let go after it: memory
    levels off however many words a process meets.
    """

    def __init__(self, model: str = pipeline.DEFAULT_MODEL) -> None:
        self._model = model
        self.id = f"spacy/{model}"
        self.prompt_version = RULES_VERSION

    def extract_many(self, texts: Iterable[Source]) -> Iterator[Outcome]:
        """One outcome per text, in order. Without an installed pipeline each is a Permanent that stops
        all.
        """
        try:
            loaded = pipeline.load(self._model)
        except pipeline.PipelineMissing as missing:
            yield from (Permanent("PipelineMissing", str(missing), stops_all=True) for _ in texts)
            return
        readings: deque[_Reading] = deque()
        work = _blocks(texts, readings)
        while zone := list(_up_to(work, _ZONE_BLOCKS, _ZONE_CHARS)):
            _read_zone(loaded, zone)
            while readings and readings[0].complete:
                yield readings.popleft().outcome(self.id)
        yield from (reading.outcome(self.id) for reading in readings)


def _blocks(texts: Iterable[Source], readings: deque[_Reading]) -> Iterator[tuple[_Reading, Block]]:
    """The texts' paragraphs; a repeated one is read once, and a text that is full is read no further."""
    for text in texts:
        reading = _Reading(without_recitals(text))
        readings.append(reading)
        for block in blocks(reading.source.text):
            if reading.full():
                break
            if block.text not in reading.seen:
                reading.seen.add(block.text)
                yield reading, block
        reading.complete = True


def _up_to(
    work: Iterator[tuple[_Reading, Block]], most_blocks: int, most_chars: int
) -> Iterator[tuple[_Reading, Block]]:
    chars = 0
    for item in islice(work, most_blocks):
        yield item
        chars += len(item[1].text)
        if chars >= most_chars:
            return


def _read_zone(loaded: pipeline.Pipeline, zone: list[tuple[_Reading, Block]]) -> None:
    """Parse and read a zone; where that breaks, block by block, so that only the bad text fails.

    What was added before the break is found again and counts once.
    """
    try:
        _read_blocks(loaded, zone)
    except _TEXT_FAULTS:
        for reading, block in zone:
            try:
                _read_blocks(loaded, [(reading, block)])
            except _TEXT_FAULTS as error:
                reading.failed = Permanent(type(error).__name__, f"the local reader failed: {error}")


def _read_blocks(loaded: pipeline.Pipeline, zone: list[tuple[_Reading, Block]]) -> None:
    sentences = [as_sentence(block.text) for _, block in zone]
    with pipeline.LOCK, loaded.nlp.memory_zone():
        for (reading, block), doc in zip(zone, loaded.nlp.pipe(sentences), strict=True):
            _add(reading, block, doc, loaded.vocabulary)


def _add(reading: _Reading, block: Block, doc: Doc, vocabulary: Collection[str]) -> None:
    source = reading.source
    antecedents = Antecedents(doc, source.role)
    dates = list(expressions(doc.text))
    dated = _tokens(doc, ((d.start, d.end) for d in dates))
    numbers = [m for m in measures(doc.text) if _tokens(doc, [(m.start, m.end)]).isdisjoint(dated)]
    measured = _tokens(doc, ((m.start, m.end) for m in numbers if m.unit))
    started = next((d for e in dates if (d := e.validity(source.at)[0])), None)
    stated = list(relations(doc, dates, measured, source.at, antecedents))
    found = [(0, Entity(tag, None, 0.6)) for tag in block.tags]
    found += mentions(doc, vocabulary, dated | measured)
    found += _ends(doc.text, stated, [entity.name for _, entity in found])
    for _, entity in sorted(found, key=lambda mention: mention[0]):
        node = canonicalise(entity.name)
        if node is not None:
            known = reading.entities.setdefault(node, entity)
            if known.type is None and entity.type is not None:
                reading.entities[node] = replace(known, type=entity.type)
    reading.relations.update(dict.fromkeys(stated))
    reading.facts.update(dict.fromkeys(quantities(doc, numbers, antecedents, started)))


def _tokens(doc: Doc, ranges: Iterable[tuple[int, int]]) -> set[int]:
    """Indices of the tokens that character ranges touch."""
    spans = (doc.char_span(start, end, alignment_mode="expand") for start, end in ranges)
    return {token.i for span in spans if span is not None for token in span}


def _ends(text: str, stated: Iterable[Relation], names: Collection[str]) -> Iterator[Mention]:
    """Ends of sure statements that are specific enough to be nodes and hold no name found already, and the
    user where a statement is about them."""
    for relation in stated:
        for name in (relation.subject, relation.object):
            if name == USER:
                yield 0, Entity(USER, "person", 0.7)
            elif (
                relation.confidence >= _SURE
                and named_end(name)
                and not any(f" {known} " in f" {name} " for known in names)
            ):
                yield text.find(name), Entity(name, None, 0.4)
