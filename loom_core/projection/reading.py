"""What one row version says of the graph: its nodes, its statements, its numeric facts. Pure.

Which of them a row may project is the page's rule: "A high-sensitivity bulk entry projects nothing; a high
`memory.set` projects only the edges of the entities its writer declared, never its text", and D37 for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loom_core.canonical import canonicalise, normalise_relation, surface_forms
from loom_core.clock import optional_micros
from loom_core.extraction.results import Extraction
from loom_core.graph.ontology import Ontology
from loom_core.graph.provenance import Grounding
from loom_core.memory.rows import MemoryRow
from loom_core.projection.inputs import KeyInputs, NamespaceContext, StoredExtraction

MAX_TRIPLES = 8
CALLER = "caller"
FACET = "loom/facet"
FACET_RELATION = "is_a"


@dataclass(frozen=True, slots=True)
class Mention:
    """A name as written and the node it stands for."""

    mention: str
    entity: str
    type: str


@dataclass(frozen=True, slots=True)
class StatedTriple:
    """One statement of a row, canonical, with what is stored beside it. Instants in UTC microseconds."""

    position: int
    subject: str
    relation: str
    object: str
    own_start: int | None
    own_end: int | None
    past: bool
    confidence: float
    adapter_name: str
    provenance: str
    stated_at: int


@dataclass(frozen=True, slots=True)
class NumericFact:
    """A number with its unit, as `derived_facts` holds it."""

    position: int
    entity: str
    attribute: str
    value: float
    unit: str
    date: int | None
    adapter_name: str


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one row version projects, before time is considered."""

    mentions: Sequence[Mention] = ()
    triples: Sequence[StatedTriple] = ()
    facts: Sequence[NumericFact] = ()

    def entities(self) -> list[str]:
        """The row's nodes in the order they were first named."""
        return list(dict.fromkeys(mention.entity for mention in self.mentions))


def text_is_readable(inputs: KeyInputs, row: MemoryRow) -> bool:
    """Whether an extractor may read this version: not if it is high, nor once a later version is.

    "An update that turns a row high withdraws what came from its text" (D37), its earlier versions included.
    """
    return not any(
        other.sensitivity == "high"
        for other in inputs.rows
        if (other.arrival, other.memory_id) >= (row.arrival, row.memory_id)
    )


def read(inputs: KeyInputs, row: MemoryRow, context: NamespaceContext, ontology: Ontology) -> Reading:
    """What `row` projects."""
    if row.sensitivity == "high":
        return Reading() if row.path != "point" else Reading(_declared_mentions(row, context))
    extraction = None
    if not row.entities_given and text_is_readable(inputs, row):
        extraction = inputs.extractions.get(row.memory_id)
    if extraction is None:
        mentions: Sequence[Mention] = _declared_mentions(row, context)
        result = Extraction()
    else:
        result = Extraction.from_json(extraction.result)
        mentions = [
            Mention(entity.name, node, entity.type or "")
            for entity in result.entities
            if (node := _node(entity.name, context))
        ]
    grounding = Grounding(row.text(), surface_forms)
    stated = [*_declared(row, context, grounding), *_extracted(row, extraction, result, context, grounding)]
    facets = _facets(row, mentions, ontology, extraction)
    kept = [
        triple
        for triple in (*stated[:MAX_TRIPLES], *facets)
        if not context.expired(triple.adapter_name, triple.confidence, triple.stated_at)
    ]
    return Reading(mentions, kept, list(_facts(extraction, result, context)))


def _node(name: str, context: NamespaceContext) -> str | None:
    entity = canonicalise(name)
    return None if entity is None else context.node(entity)


def _declared_mentions(row: MemoryRow, context: NamespaceContext) -> list[Mention]:
    return [Mention(name, node, "") for name in row.entities if (node := _node(name, context))]


def _declared(row: MemoryRow, context: NamespaceContext, grounding: Grounding) -> Iterator[StatedTriple]:
    for position, stated in enumerate(row.stated_relations()):
        subject, object_ = _node(stated.subject, context), _node(stated.object, context)
        relation, past = normalise_relation(stated.relation)
        if subject is None or object_ is None or not relation:
            continue
        confidence = stated.confidence if stated.confidence is not None else row.confidence
        yield StatedTriple(
            position, subject, relation, object_, stated.valid_from, stated.valid_to, past,
            1.0 if confidence is None else confidence, CALLER, grounding.provenance(subject, object_), row.arrival,
        )  # fmt: skip


def _extracted(
    row: MemoryRow,
    extraction: StoredExtraction | None,
    result: Extraction,
    context: NamespaceContext,
    grounding: Grounding,
) -> Iterator[StatedTriple]:
    """An extractor's triples: on the bulk path only, where the writer gave none; the most confident 8 (D37, D39)."""
    if extraction is None or row.path == "point" or row.relations_given:
        return
    best = sorted(enumerate(result.relations), key=lambda item: (-item[1].confidence, item[0]))[:MAX_TRIPLES]
    for position, found in sorted(best):
        subject, object_ = _node(found.subject, context), _node(found.object, context)
        relation, past = normalise_relation(found.relation)
        if subject is None or object_ is None or not relation or subject == object_:
            continue
        yield StatedTriple(
            position, subject, relation, object_, optional_micros(found.valid_from),
            optional_micros(found.valid_to), past or found.past, found.confidence,
            found.extractor or extraction.extractor, grounding.provenance(subject, object_),
            max(row.arrival, extraction.at),
        )  # fmt: skip


def _facets(
    row: MemoryRow, mentions: Sequence[Mention], ontology: Ontology, extraction: StoredExtraction | None
) -> Iterator[StatedTriple]:
    """(entity, is_a, type) where the ontology names the type (D24); outside the 8, for point rows too."""
    stated_at = max(row.arrival, extraction.at if extraction else 0)
    named = dict.fromkeys(
        (mention.entity, type_)
        for mention in mentions
        if mention.type and (type_ := ontology.facet(mention.type)) and type_ != mention.entity
    )
    for offset, (entity, type_) in enumerate(named):
        yield StatedTriple(
            1000 + offset, entity, FACET_RELATION, type_, None, None, False, 1.0, FACET, "facet", stated_at
        )


def _facts(
    extraction: StoredExtraction | None, result: Extraction, context: NamespaceContext
) -> Iterator[NumericFact]:
    if extraction is None:
        return
    for position, fact in enumerate(result.facts):
        if entity := _node(fact.entity, context):
            yield NumericFact(
                position, entity, fact.attribute, fact.value, fact.unit or "", optional_micros(fact.date),
                extraction.extractor,
            )  # fmt: skip
