"""Statements of a block as relations: names, stored verb, dates, confidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from loom_core.canonical import canonicalise, normalise_relation
from loom_core.extraction.dates import Expression
from loom_core.extraction.local.antecedents import Antecedents
from loom_core.extraction.local.clauses import Statement, statements
from loom_core.extraction.local.phrases import argument, is_whole, of_objects
from loom_core.extraction.persons import USER
from loom_core.extraction.results import Relation

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_CIRCUMSTANTIAL = frozenset(
    ["about", "after", "at", "before", "by", "during", "for", "in", "through", "under", "upon", "with"]
)
_TIMES = frozenset({"DATE", "TIME"})


def relations(
    doc: Doc,
    dates: Iterable[Expression],
    measured: Collection[int],
    at: datetime | None,
    antecedents: Antecedents,
) -> Iterator[Relation]:
    """The block's statements whose two ends have names; a pronoun's end is resolved or dropped.

    What holds one of the `measured` tokens (a number and its unit) is a quantity and no name.
    """
    dated = _dated(doc, dates)
    for statement in statements(doc):
        subject = _name(statement.subject, antecedents, measured)
        obj = _name(statement.object, antecedents, measured, owner=statement.subject)
        relation, _ = normalise_relation("_".join(statement.words))
        if subject is None or obj is None or not relation or canonicalise(subject) == canonicalise(obj):
            continue
        valid_from, valid_to = _validity(statement, dated, at)
        yield Relation(
            subject, relation, obj, valid_from, valid_to, statement.stance.past, _confidence(statement)
        )


def _name(
    token: Token, antecedents: Antecedents, measured: Collection[int], owner: Token | None = None
) -> str | None:
    if antecedents.is_user(token):
        return USER
    noun = antecedents.of(token)
    if noun is None or noun.ent_type_ in _TIMES or noun.pos_ == "NUM":
        return None
    if noun.i in measured and (counted := of_objects(noun)):
        noun = counted[0]
    span = argument(noun, owner)
    if any(t.i in measured for t in span):
        return None
    return span.text if is_whole(span.text) and canonicalise(span.text) is not None else None


def _is_circumstance(statement: Statement) -> bool:
    """ "In turn", "for example", "at work": a lone common noun after such a preposition, or of a clause that
    only borrows its subject, tells how or when, not what is linked to what."""
    noun = statement.object
    lone = (
        noun.pos_ == "NOUN"
        and noun.is_lower
        and not any(c.dep_ in {"compound", "amod", "poss"} for c in noun.lefts)
    )
    return lone and (
        not statement.direct or (len(statement.words) > 1 and statement.words[-1] in _CIRCUMSTANTIAL)
    )


def _confidence(statement: Statement) -> float:
    """Between .1 and .7: a clause's own subject, and ends that are names, make a reading surer; a modal verb
    or a mere circumstance makes it less sure."""
    doubtful = statement.stance.supposed or _is_circumstance(statement)
    named = sum(
        t.pos_ in {"PROPN", "X"} or any(c.dep_ == "compound" for c in t.lefts)
        for t in (statement.subject, statement.object)
    )
    return round(0.4 + 0.1 * named + 0.1 * statement.direct - 0.2 * doubtful, 2)


def _dated(doc: Doc, dates: Iterable[Expression]) -> Mapping[int, list[Expression]]:
    """Time expressions by the verb they hang on."""
    found: dict[int, list[Expression]] = defaultdict(list)
    for expression in dates:
        span = doc.char_span(expression.start, expression.end, alignment_mode="expand")
        token = span.root
        while token.pos_ not in {"VERB", "AUX"} and token.head.i != token.i:
            token = token.head
        found[token.i].append(expression)
    return found


def _validity(
    statement: Statement, dated: Mapping[int, list[Expression]], at: datetime | None
) -> tuple[datetime | None, datetime | None]:
    carrier = statement.carrier
    own = dated.get(carrier.i) or (dated.get(carrier.head.i) if carrier.dep_ == "xcomp" else None) or []
    valid_from = valid_to = None
    for expression in own:
        begin, end = expression.validity(at, future=statement.stance.future)
        valid_from, valid_to = valid_from or begin, valid_to or end
    if statement.stance.ended:
        return None, valid_to or valid_from or at
    return valid_from, valid_to
