"""From the name in a question to the node in the graph."""

from __future__ import annotations

from collections.abc import Sequence

from loom_core.canonical import canonicalise
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope


def resolve(store: Store, scope: Scope, *names: str) -> list[str | None]:
    """The node each name stands for, or None where it has no canonical form (D43).

    "A read tries the canonical form first, then the text as given, lowered" (D17); either follows aliases to
    the end of the chain (D21). A name that is not in the graph in any form resolves to its canonical form.
    """
    canonical = [canonicalise(name) for name in names]
    lowered = [name.strip().lower() for name in names]
    ends = follow(store, scope, [form for form in (*canonical, *lowered) if form])
    wanted = [
        (ends[form], ends[literal])
        for form, literal in zip(canonical, lowered, strict=True)
        if form and literal and ends[form] != ends[literal]
    ]
    in_graph = known(store, scope, sorted({name for pair in wanted for name in pair})) if wanted else set()
    nodes: list[str | None] = []
    for form, literal in zip(canonical, lowered, strict=True):
        if form is None:
            nodes.append(None)
            continue
        first, second = ends[form], ends.get(literal, ends[form])
        nodes.append(second if first not in in_graph and second in in_graph else first)
    return nodes


def follow(store: Store, scope: Scope, entities: Sequence[str]) -> dict[str, str]:
    """Where each canonical entity leads by the namespace's aliases: to the end of its chain, or to itself.

    One query per link of the longest chain. A cycle, which is refused when an alias is made, would end where
    it began.
    """
    leads: dict[str, str] = {}
    asked: set[str] = set()
    frontier = set(entities)
    while frontier:
        asked |= frontier
        found = store.rows(
            sql("facts.aliases"), org=scope.org, namespace=scope.namespace, names=sorted(frontier)
        )
        leads.update(found)
        frontier = {target for _, target in found} - asked
    return {entity: _end(entity, leads) for entity in entities}


def _end(entity: str, leads: dict[str, str]) -> str:
    passed = {entity}
    while (target := leads.get(entity)) is not None and target not in passed:
        passed.add(target)
        entity = target
    return entity


def known(store: Store, scope: Scope, names: Sequence[str]) -> set[str]:
    """Those of `names` that are nodes: an end of an edge or triple of whatever time, or named by a row."""
    rows = store.rows(sql("facts.known"), org=scope.org, namespace=scope.namespace, names=list(names))
    return {name for (name,) in rows}
