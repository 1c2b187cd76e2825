"""From an answer to an extraction: what the text holds is kept, the rest is counted. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from loom_core.canonical import canonicalise
from loom_core.extraction.dates import expressions, resolve
from loom_core.extraction.grounding import Ground
from loom_core.extraction.llm.answers import Answer
from loom_core.extraction.llm.items import Measured, Named, Stated
from loom_core.extraction.outcomes import Source
from loom_core.extraction.persons import USER, is_user
from loom_core.extraction.results import Entity, Extraction, Fact, Relation

CONFIDENCE = 0.7


class Reader:
    """Holds the answers for one text against it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._ground = Ground(source.text, source.role)

    def read(self, answers: Iterable[Answer]) -> tuple[Extraction, int]:
        """The extraction, and how many items were left out: of no usable form, or not in the text."""
        entities: dict[str, Entity] = {}
        relations: list[Relation] = []
        facts: list[Fact] = []
        skipped = 0
        for answer in answers:
            named = [self._entity(e) for e in answer.entities]
            stated = [self._relation(r) for r in answer.relations]
            measured = [self._fact(f) for f in answer.facts]
            for entity in named:
                if entity is not None:
                    entities.setdefault(canonicalise(entity.name) or entity.name, entity)
            relations += [r for r in stated if r is not None and r not in relations]
            facts += [f for f in measured if f is not None and f not in facts]
            skipped += answer.skipped + sum(i is None for found in (named, stated, measured) for i in found)
        ordered = sorted(entities.values(), key=lambda e: self._ground.position(e.name))
        return Extraction(tuple(ordered), tuple(relations), tuple(facts)), skipped

    def _name(self, words: str) -> str | None:
        if is_user(words, self._source.role):
            words = USER
        spelling = self._ground.spelling(words)
        return spelling if spelling is not None and canonicalise(spelling) is not None else None

    def _entity(self, entity: Named) -> Entity | None:
        name = self._name(entity.name)
        return None if name is None else Entity(name, entity.type, CONFIDENCE)

    def _relation(self, stated: Stated) -> Relation | None:
        subject, obj = self._name(stated.subject), self._name(stated.object)
        if subject is None or obj is None or canonicalise(subject) == canonicalise(obj):
            return None
        valid_from, valid_to = self._date(stated.since, "since"), self._date(stated.until, "until")
        if valid_from and valid_to and valid_to <= valid_from:
            valid_to = None
        return Relation(subject, stated.relation, obj, valid_from, valid_to, stated.past, CONFIDENCE)

    def _fact(self, fact: Measured) -> Fact | None:
        entity = self._name(fact.entity)
        digits = f"{fact.value:g}"
        if entity is None or not any(
            self._ground.spelling(d) for d in (digits, f"{fact.value:,g}", str(fact.value))
        ):
            return None
        return Fact(entity, fact.attribute, fact.value, fact.unit, self._date(fact.date, "since"))

    def _date(self, words: str | None, lead: str) -> datetime | None:
        """A date the model copied, resolved by our rules. One it worked out itself is kept only if the text's
        own dates come to the same day."""
        if words is None:
            return None
        at = self._source.at
        if self._ground.spelling(words) is not None:
            if period := resolve(words, at, "past" if lead == "since" else "near"):
                return period.start
            dates = [d for e in expressions(words) for d in e.validity(at)]
            return next((d for d in dates if d is not None), None)
        period = resolve(words, at)
        told = {d.date() for e in expressions(self._source.text) for d in e.validity(at) if d is not None}
        return period.start if period is not None and period.start.date() in told else None
