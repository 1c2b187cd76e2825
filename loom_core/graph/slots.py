"""What each statement of a slot holds, and when: one pure function of all of them ("Supersession closes
triples").

For a relation of cardinality `one`, all statements of (subject, relation) decide together, at every
instant, which value is current (D6, D9); no statement closes another on its own. So the order in which rows
are projected, how often each is, and what has been erased or expired since make no difference (D13).

How the page's sentences are met:

- "Values order by the day they start (an undated value starts when it arrives), then by arrival to the
  microsecond [...] Within one write, the later-stated value is newer": the rank (D8).
- "Within one write, an undated value in the past tense is older than a dated one, in either order": rank
  class 0.
- "A value is judged at its newest row": the highest-ranked statement of all decides, not the last to arrive
  (D9).
- "A write that states the older value again while that close runs keeps it open": the later statement ranks
  higher on the same day, and every started, unretired statement of the current value holds.
- "A value stated with its own end is never closed early": it holds to its end beside the current value
  (D10), and still ranks afterwards.
- "An Undo makes the restored value current from the restore on, or from the fact's own later start": it
  ranks anew from the restore (D12). "A value dated on a later day still wins, and so does a value stated
  after the Undo": the latter ranks, from the Undo on, at no earlier day than the Undo.
- "A failed close is replayed as of the write or Undo that made it": nothing here knows when it is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from loom_core.graph.handover import Claim, Key, Stand, Statement, by_start, claim_of, claims_of, stands_of
from loom_core.graph.intervals import FOREVER, Interval, is_current, joined, stretch, unheld
from loom_core.graph.lifecycle import RowHistory
from loom_core.graph.ontology import Cardinality
from loom_core.graph.ranking import Times, current_times

__all__ = ["Interval", "Statement", "derive", "derive_alone", "values_current"]


def derive(
    statements: Iterable[Statement], rows: Mapping[str, RowHistory], cardinality: Cardinality
) -> dict[Key, tuple[Interval, ...]]:
    """The disjoint intervals in which each observation, (memory id, object), holds.

    `statements`: all of a slot, or of one triple where the cardinality is `many`, from all rows that are
    not erased, without those that were expired. `rows`: the life of each of their rows. Every observation
    gets at least one interval, of no length where it held at no instant. Takes n log n for n statements and
    Undos, beyond the size of what it returns. Raises KeyError for a statement whose row has no history.
    """
    claims = claims_of(statements, rows)
    stands = stands_of(claims)
    if cardinality == "many":
        return {key: joined(_standing(stands[key])) or _unheld(group) for key, group in claims.items()}
    undos = (at for group in claims.values() for at in group[0].row.restored)
    current = current_times((stand for group in stands.values() for stand in group), undos)
    return {key: _held(stands[key], current.get(key[1])) or _unheld(group) for key, group in claims.items()}


def derive_alone(statements: Iterable[Statement], row: RowHistory) -> tuple[Interval, ...]:
    """What `derive` gives for the statements of one triple of a `many` relation by a row that stands alone: the
    only version of its key, without an event, superseding no other. A bulk write has thousands of them.
    """
    claims = [claim_of(statement, row, None) for statement in statements]
    held = joined(part for each in claims if (part := stretch(each.start, FOREVER, each.end)))
    return held or _unheld(sorted(claims, key=by_start))


def values_current(values: Iterable[Sequence[Interval]], cardinality: Cardinality, now: int) -> bool:
    """Whether what a live row states of one slot is current, so that restoring the row changes nothing (D12).

    `values`: the intervals of each value the row states there. Of several that one write states for a `one`
    relation only the row's own newest can be current; those with an end of their own hold beside it.
    """
    judged = [(spans[-1].valid_to is None, is_current(spans, now)) for spans in values]
    if cardinality == "many":
        return all(current for _, current in judged)
    unbounded = [current for open_ended, current in judged if open_ended]
    return all(current for open_ended, current in judged if not open_ended) and (
        not unbounded or any(unbounded)
    )


def _unheld(group: Sequence[Claim]) -> tuple[Interval, ...]:
    return (unheld(group[0].start, group[0].end),)


def _standing(stands: Iterable[Stand]) -> Iterator[Interval]:
    """Where statements hold that no other value can close: all the time they stand, up to their end."""
    for stand in stands:
        if held := stretch(stand.since, stand.until, stand.end):
            yield held


def _held(stands: Sequence[Stand], current: Times | None) -> tuple[Interval, ...]:
    """Where statements of a `one` relation hold: while theirs is the current value, or to their end (D10)."""
    parts: list[Interval] = []
    for stand in stands:
        if stand.end is not None:
            parts += _standing((stand,))
        elif current is not None:
            parts += current.within(stand.since, stand.until)
    return tuple(parts) if len(stands) == 1 else joined(parts)
