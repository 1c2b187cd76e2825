"""`facts.list`: triples by either end or verb, folded over their observations (D41)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from loom_core.canonical import normalise_relation
from loom_core.clock import instant, optional_instant
from loom_core.facts.models import FactRow, FactsListRequest, FactsListResponse
from loom_core.facts.names import resolve
from loom_core.facts.sources import Sources, Triple, read_sources
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope


@dataclass(frozen=True, slots=True)
class Filters:
    """What a triple must match; an empty text filters nothing."""

    subject: str = ""
    relation: str = ""
    object: str = ""
    entity: str = ""


def list_facts(store: Store, scope: Scope, request: FactsListRequest, at: int) -> FactsListResponse:
    """The triples that hold at `at` (µs) and match, best first.

    Two queries: one ranks the triples and keeps `limit` of them, one folds the observations of those kept;
    one more for sources, and those that read the rows for their status.
    """
    filters = _filters(store, scope, request)
    if filters is None:
        return FactsListResponse(rows=[], truncated=False)
    seen_at: dict[str, Any] = {
        "org": scope.org,
        "namespace": scope.namespace,
        "at": at,
        "provenance": list(request.provenance or []),
    }
    matching = _ranked(store, seen_at, filters, request)
    kept = matching[: request.limit]
    if not kept:
        return FactsListResponse(rows=[], truncated=False)
    folded = {row[:3]: row for row in store.rows(sql("facts.triples"), triples=kept, **seen_at)}
    sources: dict[Triple, Sources] = {}
    if request.include_sources or request.include_source_status:
        sources = read_sources(store, scope, kept, seen_at, with_status=request.include_source_status)
    rows = [_fact(folded[triple], sources.get(triple, Sources())) for triple in kept if triple in folded]
    return FactsListResponse(rows=rows, truncated=len(matching) > request.limit)


def _filters(store: Store, scope: Scope, request: FactsListRequest) -> Filters | None:
    """The filters as writes store them, or None where one has no canonical form (D43): nothing can match it.

    "subject/object/relation AND together"; `object` is "ignored when entity is set".
    """
    stated = {"subject": request.subject, "entity": request.entity}
    if request.entity is None:
        stated["object"] = request.object
    given = {field: text for field, text in stated.items() if text is not None}
    nodes = dict(zip(given, resolve(store, scope, *given.values()), strict=True)) if given else {}
    if request.relation is not None:
        nodes["relation"] = normalise_relation(request.relation)[0]
    if not all(nodes.values()):
        return None
    return Filters(**{field: node for field, node in nodes.items() if node})


def _ranked(
    store: Store, seen_at: dict[str, Any], filters: Filters, request: FactsListRequest
) -> list[Triple]:
    """The best `limit` matching triples, and one more if there is one.

    A triple is found by its subject in the triples' own order, by any other end in the adjacency.
    """
    parameters = {
        "subject": filters.subject,
        "relation": filters.relation,
        "min_co_occur": request.min_co_occur,
        "recency": int(request.sort_by == "recency"),
        "limit": request.limit + 1,
    }
    if filters.entity:
        statement, ends = "facts.top_triples_of", {"entity": filters.entity, "directions": ["out", "in"]}
    elif filters.object and not filters.subject:
        statement, ends = "facts.top_triples_of", {"entity": filters.object, "directions": ["in"]}
    else:
        statement, ends = "facts.top_triples", {"object": filters.object}
    return [row[:3] for row in store.rows(sql(statement), **seen_at, **parameters, **ends)]


def _fact(row: Sequence[Any], sources: Sources) -> FactRow:
    subject, relation, object_, co_occur, confidence, told_by, first_seen, last_seen, since, until = row
    return FactRow(
        subject=subject,
        relation=relation,
        object=object_,
        co_occur=co_occur,
        confidence=confidence,
        adapter_name=told_by[0],
        provenance=told_by[1],
        first_seen=instant(first_seen),
        last_seen=instant(last_seen),
        valid_from=instant(since),
        valid_to=optional_instant(until[0]),
        invalid_at=optional_instant(until[1]),
        sources=sources.keys,
        source_status=sources.status,
        stale=sources.stale,
    )
