"""What a writer states, before it is a row: checked, hashed, placed in its key's history."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loom_core import clock
from loom_core.canonical import canonicalise, normalise_relation
from loom_core.errors import Invalid
from loom_core.memory.models import MemoryEntry, Relation
from loom_core.memory.rows import MemoryRow, StatedRelation, canonical_json, digest
from loom_core.tenancy import CallContext

POINT, BULK, MESSAGE = "point", "bulk", "message"


@dataclass(frozen=True, slots=True)
class Draft:
    """One row's content as stated. `entities` and `relations` are None where the writer gave none."""

    memory_key: str
    value: Any
    entities: Sequence[str] | None
    relations: Sequence[StatedRelation] | None
    valid_at: int | None
    valid_to: int | None
    sensitivity: str
    tags: Sequence[str]
    confidence: float | None
    supersedes: Sequence[str] = ()
    path: str = POINT
    role: str = ""
    if_match_sha256: str | None = None
    dry_run: bool = False

    def content_sha256(self) -> str:
        """The hash that decides "the same content" (D20): value, entities (`[]` and absent differ), relations,
        dates, sensitivity, tags and confidence together."""
        return _content_sha256(self, canonical_json(self.value), self.relations_json())

    def relations_json(self) -> str:
        """The relations as they are stored; `[]` too where none were given."""
        return canonical_json([each.plain() for each in self.relations]) if self.relations else "[]"

    def check_dates(self) -> None:
        """Refuses a merged row that would end before it starts; a row stated whole was checked at the edge.

        Raises `Invalid` naming the field.
        """
        spans = [("valid_to", self.valid_at, self.valid_to)]
        spans += [
            (f"relations[{index}].valid_to", each.valid_from or self.valid_at, each.valid_to or self.valid_to)
            for index, each in enumerate(self.relations or ())
        ]
        for field, start, end in spans:
            if start is not None and end is not None and end < start:
                raise Invalid("ends_before_start", f"{field}: ends before it starts, with what the row keeps")

    def advisories(self) -> list[str]:
        """Names what of the entities is dropped (D22)."""
        dropped = [name for name in self.entities or () if canonicalise(name) is None]
        shown = ", ".join(repr(name[:40]) for name in dropped[:5])
        more = f" and {len(dropped) - 5} more" if len(dropped) > 5 else ""
        return (
            [f"entities: dropped, no canonical form or over 256 characters: {shown}{more}"] if dropped else []
        )


def _content_sha256(draft: Draft, value: str, relations: str) -> str:
    """Value and relations come as JSON: they are the long parts, and are stored in that form."""
    rest = [draft.valid_at, draft.valid_to, draft.sensitivity, list(draft.tags), draft.confidence]
    content = ",".join(
        (
            value,
            canonical_json(draft.entities),
            "null" if draft.relations is None else relations,
            canonical_json(rest)[1:-1],
        )
    )
    return hashlib.sha256(f"[{content}]".encode("utf-8", "surrogatepass")).hexdigest()


def draft_of(entry: MemoryEntry, path: str) -> Draft:
    """A draft of a validated entry. Raises `Invalid` naming the relation that has no canonical form (D22)."""
    return Draft(
        memory_key=entry.memory_key,
        value=entry.value,
        entities=entry.entities,
        relations=stated(entry.relations),
        valid_at=clock.optional_micros(entry.valid_at),
        valid_to=clock.optional_micros(entry.valid_to),
        sensitivity=entry.sensitivity,
        tags=entry.tags,
        confidence=entry.confidence,
        supersedes=tuple(dict.fromkeys(entry.supersedes)),
        path=path,
        if_match_sha256=entry.if_match_sha256,
        dry_run=entry.dry_run,
    )


def stated(relations: Sequence[Relation] | None) -> list[StatedRelation] | None:
    """Relations as stored, each end and verb checked: a point write refuses what it cannot store (page, D22)."""
    if relations is None:
        return None
    for index, each in enumerate(relations):
        for field in ("subject", "object"):
            if canonicalise(getattr(each, field)) is None:
                raise Invalid(
                    "no_canonical_form",
                    f"relations[{index}].{field}: no canonical form, or longer than 256 characters",
                )
        if not normalise_relation(each.relation)[0]:
            raise Invalid("no_canonical_form", f"relations[{index}].relation: names no verb")
    return [
        StatedRelation(
            each.subject, each.relation, each.object, clock.optional_micros(each.valid_from),
            clock.optional_micros(each.valid_to), each.confidence,
        )
        for each in relations
    ]  # fmt: skip


def row_of(draft: Draft, context: CallContext, head: str, arrival: int) -> MemoryRow:
    """The row that a draft becomes on top of `head`, the latest version or event of its key.

    Equal content on an equal head gives an equal id, so that racing equal writes are one row (invariant 3).
    """
    value, relations = canonical_json(draft.value), draft.relations_json()
    sha = _content_sha256(draft, value, relations)
    scope = context.scope
    return MemoryRow(
        memory_key=draft.memory_key,
        memory_id=digest("memory", scope.org, scope.namespace, draft.memory_key, head, sha),
        head=head,
        path=draft.path,
        role=draft.role,
        value=value,
        content_sha256=sha,
        entities=list(draft.entities or ()),
        entities_given=int(draft.entities is not None),
        relations=relations if draft.relations else "",
        relations_given=int(draft.relations is not None),
        valid_at=draft.valid_at,
        valid_to=draft.valid_to,
        sensitivity=draft.sensitivity,
        tags=list(draft.tags),
        confidence=draft.confidence,
        supersedes=list(draft.supersedes),
        agent=context.agent or "",
        user_id=context.user_id or "",
        session_id=context.session_id or "",
        arrival=arrival,
    )


def merged(row: MemoryRow, value: Any, changes: Mapping[str, Any], path: str) -> Draft:
    """A draft that keeps of `row` what `changes` does not name (D40). `value` is the row's, decoded."""
    kept: dict[str, Any] = {
        "value": value,
        "entities": list(row.entities) if row.entities_given else None,
        "relations": row.stated_relations() if row.relations_given else None,
        "valid_at": row.valid_at,
        "valid_to": row.valid_to,
        "sensitivity": row.sensitivity,
        "tags": list(row.tags),
        "confidence": row.confidence,
    }
    return Draft(memory_key=row.memory_key, path=path, role=row.role, **(kept | dict(changes)))
