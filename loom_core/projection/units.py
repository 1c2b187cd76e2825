"""What is projected, and how graph rows are versioned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

PROJECTIONS = ("mentions", "edges", "degree", "triples", "closes", "facts")
"""In the order they run. `triples` writes the statements, `closes` derives the slots they belong to."""

Kind = Literal["row", "event", "extraction", "degree"]
"""`degree`: a frozen batch of degrees whose writer did not report; it belongs to no key."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Something that landed and must be projected: a row version, an event on a key, a stored extraction, a batch."""

    unit_id: str
    kind: Kind
    memory_key: str
    memory_id: str
    landed_at: int


def extraction_unit_id(memory_id: str) -> str:
    """The unit of a row version's stored extraction."""
    return f"x:{memory_id}"


# A version is (inputs seen, then: the earlier the arrivals the higher). The inputs of a key only grow, and the
# last to append one projects after it, so the projector who saw most has the highest version (invariant 4). Racing
# writers of equal content are one input with two arrivals, of which the store keeps the earlier: the second part
# makes who saw the earlier one win.
SEEN_SHIFT = 72
ARRIVALS_MASK = (1 << SEEN_SHIFT) - 1
ARRIVALS_SINCE = 1_577_836_800_000_000
"""2020-01-01: counted from there, the arrivals of 20 million rows fit into their part."""
ERASURE_WEIGHT = 1_000_000
"""An erasure outweighs the inputs of a key that it took away."""
EPOCH_WEIGHT = 1_000_000_000
REVISION_WEIGHT = 1_000_000_000_000


def version(seen: int, arrivals: Iterable[int]) -> int:
    """The version of rows projected from `seen` inputs whose rows arrived at `arrivals` (µs)."""
    since = sum(max(0, arrival - ARRIVALS_SINCE) for arrival in arrivals)
    return (seen << SEEN_SHIFT) | (ARRIVALS_MASK - since)


def slot_version(statement_versions: Iterable[int], revision: int, epochs: int) -> int:
    """The version of a slot's rows.

    It grows with every input of every key that states the slot, with the namespace's revision (an ontology decides
    cardinality) and with each erasure or expiry that took statements away. The weights are larger than any sum of
    inputs that those could outweigh, so that the version never falls.
    """
    seen = arrivals = 0
    for each in statement_versions:
        seen += each >> SEEN_SHIFT
        arrivals += ARRIVALS_MASK - (each & ARRIVALS_MASK)
    return ((seen + revision * REVISION_WEIGHT + epochs * EPOCH_WEIGHT) << SEEN_SHIFT) | (
        ARRIVALS_MASK - arrivals
    )
