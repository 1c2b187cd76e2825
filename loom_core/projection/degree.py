"""`entity_degree`: the one graph table that adds, so the one that needs more than a key to count once.

A row version's pairs begin to count and cease to count in turns: unit 1 begins, unit 2 ends, unit 3 begins again
after an Undo (D42: degree is counted from live row versions). Units are frozen as rows before anything is added.
A batch of units is one INSERT whose token is the batch's id, so sending it again adds nothing. Two racing batches
that hold the same unit see each other after the fact, since both were frozen before either was added: the later
one's share of that unit is then taken back, under a token of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loom_core import clock, faults
from loom_core.graph.pairs import pairs
from loom_core.memory.rows import digest
from loom_core.projection.inputs import CHUNK
from loom_core.projection.plan import Plan, PlannedRow
from loom_core.projection.receipts import receipted, write_receipts
from loom_core.storage.migrate import DEDUPLICATION_WINDOW
from loom_core.storage.statements import sql
from loom_core.storage.store import Store, in_chunks
from loom_core.tenancy import Scope

UNIT_COLUMNS = (
    "org", "namespace", "memory_id", "seq", "batch_id", "generation", "entities", "amounts", "ver"
)  # fmt: skip
DEGREE_COLUMNS = ("org", "namespace", "generation", "entity", "degree")
RECOUNT_LIMIT_S = 600
BATCH_UNIT = "batch:"
SAFE_WINDOW = DEDUPLICATION_WINDOW * 9 // 10


class RecountNeeded(RuntimeError):
    """A batch is too old for its token to be remembered: only a recount can tell whether it was added."""


@dataclass(frozen=True, slots=True)
class DegreeUnit:
    """One change of what a row version adds: amounts per entity, negative when it ceases to count."""

    memory_id: str
    seq: int
    batch_id: str
    generation: int
    entities: Sequence[str]
    amounts: Sequence[int]
    ver: int


def project_degree(store: Store, scope: Scope, plan: Plan) -> list[str]:
    """Adds and takes away what the plan's rows count.

    Returns the ids of the batches that are now known to be added: their receipts keep them from being sent again
    when the table no longer remembers their tokens. Raises `RecountNeeded` for a batch past that.
    """
    stored = stored_units(store, scope, plan.stored_ids())
    current, opening = generation(store, scope)
    wanted = [unit for planned in plan.rows for unit in _missing(planned, stored, current)]
    resend = _unconfirmed(store, scope, stored)
    batches = _batches(wanted)
    faults.reach("degree", "freeze")
    freeze(store, scope, [unit for batch in batches for unit in batch])
    faults.reach("degree", "frozen")
    if opening > current or generation(store, scope) != (current, opening):
        # A recount is under way: it counts what is frozen, and the stragglers are added after it.
        return []
    for batch in batches:
        add(store, scope, batch, current)
    for batch in batches_of(store, scope, resend):
        add_again(store, scope, batch, current)
    faults.reach("degree", "added")
    doubled = [id_ for id_, units in stored.items() if len({unit.seq for unit in units}) < len(units)]
    take_back_doubles(store, scope, [*{unit.memory_id for unit in wanted}.union(doubled)], current)
    return sorted({batch[0].batch_id for batch in batches} | set(resend))


def settle(store: Store, scope: Scope, batch_ids: Sequence[str]) -> None:
    """Makes sure that frozen batches are added and no unit of theirs counts twice, and writes their receipts.

    A projector that was overtaken, and died after it had frozen its batch, is told of by nothing but that batch:
    its rows have the receipts of whoever overtook it. Raises `RecountNeeded` for a batch whose token may be
    forgotten.
    """
    current, opening = generation(store, scope)
    if opening > current:
        return  # the recount settles its stragglers
    for batch in batches_of(store, scope, batch_ids):
        add_again(store, scope, batch, current)
        take_back_doubles(store, scope, [unit.memory_id for unit in batch], current)
    write_receipts(store, scope, [(batch_unit_id(id_), "degree", 0) for id_ in batch_ids])


def _unconfirmed(store: Store, scope: Scope, stored: dict[str, list[DegreeUnit]]) -> list[str]:
    """Batches of stored units that have no receipt: their writer may have died before adding them."""
    ids = sorted({unit.batch_id for units in stored.values() for unit in units})
    confirmed = receipted(store, scope, [batch_unit_id(id_) for id_ in ids], "degree")
    return [id_ for id_ in ids if batch_unit_id(id_) not in confirmed]


def batch_unit_id(batch_id: str) -> str:
    """The unit id under which a batch's receipt is written."""
    return f"{BATCH_UNIT}{batch_id}"


def stored_units(store: Store, scope: Scope, ids: Iterable[str]) -> dict[str, list[DegreeUnit]]:
    """The frozen units of each row, in the order of their turns."""
    found: dict[str, list[DegreeUnit]] = defaultdict(list)
    for chunk in in_chunks(list(ids), CHUNK):
        for line in store.rows(
            sql("projection.units_of_rows"), org=scope.org, namespace=scope.namespace, ids=list(chunk)
        ):
            found[line[0]].append(DegreeUnit(*line))
    return found


def contribution(planned: PlannedRow) -> dict[str, int]:
    """How many pairs of the row each of its entities is in."""
    amounts: dict[str, int] = defaultdict(int)
    for a, b in pairs(planned.reading.entities()):
        amounts[a] += 1
        amounts[b] += 1
    return dict(amounts)


def _missing(planned: PlannedRow, stored: dict[str, list[DegreeUnit]], current: int) -> list[DegreeUnit]:
    """The units between what is counted of the row and what should be: at most an end and a new beginning."""
    units = stored.get(planned.row.memory_id, [])
    if any(unit.ver > planned.ver for unit in units):
        return []
    wanted = contribution(planned) if planned.history.live else {}
    last = units[-1] if units else None
    counted = dict(zip(last.entities, last.amounts, strict=True)) if last and last.seq % 2 else {}
    if wanted == counted:
        return []
    seq = last.seq if last else 0
    steps = []
    for amounts, sign in ((counted, -1), (wanted, 1)):
        if amounts:
            seq += 1
            signed = [sign * amount for amount in amounts.values()]
            steps.append(
                DegreeUnit(planned.row.memory_id, seq, "", current, list(amounts), signed, planned.ver)
            )
    return steps


def _batches(units: Sequence[DegreeUnit]) -> list[list[DegreeUnit]]:
    """Few units go each under a token of its own, so that racing writers of one row send the same INSERT."""
    groups = [[unit] for unit in units] if len(units) <= 2 else [list(units)]
    batches = []
    for group in groups:
        members = sorted(f"{unit.memory_id}:{unit.seq}" for unit in group)
        batch_id = digest("degree", *members)
        batches.append(
            [
                DegreeUnit(u.memory_id, u.seq, batch_id, u.generation, u.entities, u.amounts, u.ver)
                for u in group
            ]
        )
    return batches


def freeze(store: Store, scope: Scope, units: Sequence[DegreeUnit]) -> None:
    """Writes the units down before anything is added."""
    store.insert(
        "degree_units",
        UNIT_COLUMNS,
        [
            [scope.org, scope.namespace, u.memory_id, u.seq, u.batch_id, u.generation, list(u.entities),
             list(u.amounts), u.ver]
            for u in units
        ],
    )  # fmt: skip


def add(store: Store, scope: Scope, batch: Sequence[DegreeUnit], current: int, sign: int = 1) -> None:
    """Adds a frozen batch to a generation, once however often it is sent within the window."""
    totals: dict[str, int] = defaultdict(int)
    for unit in batch:
        for entity, amount in zip(unit.entities, unit.amounts, strict=True):
            totals[entity] += sign * amount
    lines = [[scope.org, scope.namespace, current, entity, total] for entity, total in sorted(totals.items())]
    # Also sums of zero are sent: the token must be remembered for the batch whatever it adds up to.
    token = f"{scope.org}/{scope.namespace}/{batch[0].batch_id}/{current}/{sign}"
    store.insert("entity_degree", DEGREE_COLUMNS, lines, token=token)


def batches_of(store: Store, scope: Scope, batch_ids: Sequence[str]) -> list[list[DegreeUnit]]:
    """All units of each batch, as frozen."""
    found: dict[str, list[DegreeUnit]] = defaultdict(list)
    for chunk in in_chunks(list(batch_ids), CHUNK):
        for line in store.rows(
            sql("projection.units_of_batches"), org=scope.org, namespace=scope.namespace, batches=list(chunk)
        ):
            unit = DegreeUnit(*line)
            found[unit.batch_id].append(unit)
    return [found[batch_id] for batch_id in sorted(found)]


def add_again(store: Store, scope: Scope, batch: Sequence[DegreeUnit], current: int) -> None:
    """Sends a batch that may have been added before. Raises `RecountNeeded` if its token may be forgotten."""
    names = {"org": scope.org, "namespace": scope.namespace}
    batch_id = batch[0].batch_id
    if batch[0].generation < current and store.rows(
        sql("projection.counted_batches"), generation=current, batches=[batch_id], **names
    ):
        return
    since = store.rows(sql("projection.batches_since"), batch=batch_id, **names)[0][0]
    if since >= SAFE_WINDOW:
        raise RecountNeeded(f"{since} batches came after {batch_id}: its token may be forgotten")
    add(store, scope, batch, current)


def take_back_doubles(store: Store, scope: Scope, ids: Sequence[str], current: int) -> None:
    """Where two batches hold the same unit, makes sure that both were added and takes the later's share back."""
    doubled = []
    for units in stored_units(store, scope, _doubled(store, scope, ids)).values():
        by_seq: dict[int, list[DegreeUnit]] = defaultdict(list)
        for unit in units:
            by_seq[unit.seq].append(unit)
        doubled += [group for group in by_seq.values() if len(group) > 1]
    for group in doubled:
        for batch in batches_of(store, scope, [unit.batch_id for unit in group]):
            add_again(store, scope, batch, current)
        for unit in sorted(group, key=lambda unit: unit.batch_id)[1:]:
            share = digest("double", unit.memory_id, str(unit.seq), unit.batch_id)
            taken = DegreeUnit(
                unit.memory_id, unit.seq, share, current, unit.entities, unit.amounts, unit.ver
            )
            add(store, scope, [taken], current, sign=-1)
            # Gone, it is not found doubled again once the token of what was taken back is forgotten.
            store.command(
                sql("projection.drop_unit"), org=scope.org, namespace=scope.namespace,
                memory_id=unit.memory_id, seq=unit.seq, batch=unit.batch_id,
            )  # fmt: skip


def _doubled(store: Store, scope: Scope, ids: Sequence[str]) -> list[str]:
    """Those of these rows that have a unit in two batches."""
    found: list[str] = []
    for chunk in in_chunks(ids, CHUNK):
        lines = store.rows(
            sql("projection.doubled_units"), org=scope.org, namespace=scope.namespace, ids=list(chunk)
        )
        found += [line[0] for line in lines]
    return found


def retire(store: Store, scope: Scope, ids: Sequence[str]) -> None:
    """Takes away whatever these rows still add: what an erasure does before it deletes their units.

    Batches that may not have been added yet are added first, so that what is taken away was there.
    """
    stored = stored_units(store, scope, ids)
    current, _ = generation(store, scope)
    for batch in batches_of(store, scope, _unconfirmed(store, scope, stored)):
        add_again(store, scope, batch, current)
    counted = [units[-1] for units in stored.values() if units[-1].seq % 2]
    ends = [
        DegreeUnit(u.memory_id, u.seq + 1, "", current, u.entities, [-amount for amount in u.amounts], u.ver)
        for u in counted
    ]
    batches = _batches(ends)
    freeze(store, scope, [unit for batch in batches for unit in batch])
    for batch in batches:
        add(store, scope, batch, current)


def generation(store: Store, scope: Scope) -> tuple[int, int]:
    """(the generation that readers sum, the highest one being opened); 0 where there is none.

    An opening whose recount did not end in time is void: its recount died.
    """
    line = store.rows(
        sql("projection.generation"),
        org=scope.org,
        namespace=scope.namespace,
        alive=clock.now() - RECOUNT_LIMIT_S * clock.SECOND,
    )[0]
    return int(line[0]), int(line[1])
