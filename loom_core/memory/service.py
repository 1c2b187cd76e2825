"""The `memory.*` ops that write and read rows, as the server calls them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from loom_core import clock
from loom_core.errors import Conflict, LoomError, NotFound
from loom_core.graph.intervals import Interval
from loom_core.graph.ontology import Ontology
from loom_core.graph.slots import values_current
from loom_core.memory import models
from loom_core.memory.current import KeyState, read_state
from loom_core.memory.drafts import BULK, MESSAGE, POINT, Draft, draft_of, merged, stated
from loom_core.memory.erase import Forget, erase, forgets_nothing
from loom_core.memory.rows import MemoryRow, StatedRelation, digest, first_wins, key_hash
from loom_core.memory.writer import Writer, WriteResult
from loom_core.projection.inputs import read_context
from loom_core.projection.plan import current_id
from loom_core.storage.statements import sql
from loom_core.tenancy import CallContext, Scope


class MemoryService:
    """Writes, reads of single rows, Undo, deletion, erasure and links."""

    def __init__(self, writer: Writer, forget: Forget = forgets_nothing) -> None:
        self._writer = writer
        self._forget = forget
        self._store = writer.store

    def set(self, context: CallContext, request: models.MemorySetRequest) -> models.MemorySetResponse:
        """Writes one row. Raises `Invalid` for a relation without a form, `Conflict` for another hash."""
        draft = draft_of(request, POINT)
        report = self._writer.write(context, [draft])
        if report.errors:
            raise report.errors[0]
        return models.MemorySetResponse(
            **_written(report.results[0], report.degraded),
            ontology_warnings=self._warnings(context.scope, [draft]),
        )

    def set_many(
        self, context: CallContext, request: models.MemorySetManyRequest
    ) -> models.MemorySetManyResponse:
        """Writes many rows; each entry is written or refused on its own."""
        drafts: list[tuple[int, Draft]] = []
        refused = []
        for index, entry in request.accepted:
            try:
                drafts.append((index, draft_of(entry, BULK)))
            except LoomError as error:
                refused.append(models.Refused(index=index, code=error.code, message=error.message))
        return self._write_many(context, drafts, refused)

    def set_from_messages(
        self, context: CallContext, request: models.MemorySetFromMessagesRequest
    ) -> models.MemorySetFromMessagesResponse:
        """Lands one row a message, keyed by prefix and content hash; the fleet extracts from them later."""
        drafts, seen = [], dict[str, int]()
        for index, message in request.accepted:
            content = digest("message", message.role, message.content)
            seen[content] = seen.get(content, 0) + 1
            ordinal = f"-{seen[content]}" if seen[content] > 1 else ""
            at = message.at or request.valid_at
            draft = Draft(
                memory_key=f"{request.key_prefix or 'message'}/{content}{ordinal}",
                value=message.content,
                entities=None,
                relations=None,
                valid_at=clock.optional_micros(at),
                valid_to=None,
                sensitivity=request.sensitivity,
                tags=[f"role:{message.role}"],
                confidence=1.0,
                path=MESSAGE,
                role=message.role,
            )
            drafts.append((index, draft))
        written = self._write_many(context, drafts, [])
        deferred = any(not each.noop for each in written.written) and request.sensitivity == "normal"
        return models.MemorySetFromMessagesResponse(
            **written.model_dump(),
            deferred=deferred,
            queue_id=f"entity_extractor/{context.scope.org}/{context.scope.namespace}" if deferred else None,
        )

    def update(
        self, context: CallContext, request: models.MemoryUpdateRequest
    ) -> models.MemoryUpdateResponse:
        """Changes what is named of the key's current version."""
        return self._update(context, read_state(self._store, context.scope, request.memory_key), request)

    def update_by_id(
        self, context: CallContext, request: models.MemoryUpdateByIdRequest
    ) -> models.MemoryUpdateResponse:
        """The same, of the row whose current version has this id. Raises `Conflict` if a later one has."""
        key = self._key_of(context.scope, request.memory_id)
        if key is None:
            return models.MemoryUpdateResponse(updated=False, reason="not_found")
        state = read_state(self._store, context.scope, key)
        if state.current is not None and state.current.memory_id != request.memory_id:
            raise Conflict("not_current", "memory_id: is not the current version of its key; read it again")
        return self._update(context, state, request)

    def get(self, context: CallContext, request: models.MemoryKeyRequest) -> models.MemoryGetResponse:
        """The current version of a key."""
        state = read_state(self._store, context.scope, request.memory_key)
        if state.current is None:
            return models.MemoryGetResponse(found=False)
        return models.MemoryGetResponse(found=True, **_version(state, state.current))

    def history(self, context: CallContext, request: models.MemoryKeyRequest) -> models.MemoryHistoryResponse:
        """Every version of a key, newest first."""
        state = read_state(self._store, context.scope, request.memory_key)
        versions = [models.MemoryVersion(**_version(state, row)) for row in reversed(state.inputs.rows)]
        return models.MemoryHistoryResponse(
            found=bool(versions), memory_key=request.memory_key, versions=versions
        )

    def delete(self, context: CallContext, request: models.MemoryKeyRequest) -> models.MemoryDeleteResponse:
        """Retires the current version from now on; it stays in the history and can be restored."""
        with self._writer.holding(request.memory_key):
            state = read_state(self._store, context.scope, request.memory_key)
            if state.current is None:
                return models.MemoryDeleteResponse(found=bool(state.inputs.rows), tombstoned=False)
            self._land_event(context, "delete", state, state.current.memory_id)
        return models.MemoryDeleteResponse(found=True, tombstoned=True)

    def restore(
        self, context: CallContext, request: models.MemoryRestoreRequest
    ) -> models.MemoryRestoreResponse:
        """Undo (D12). Raises `NotFound` for an absent row or version, `Conflict` where nothing is earlier."""
        key = request.memory_key or self._key_of(context.scope, request.memory_id or "")
        if key is None:
            raise NotFound("no_such_memory", "memory_id: no such row")
        with self._writer.holding(key):
            state = read_state(self._store, context.scope, key)
            target = self._restore_target(context.scope, state, request)
            is_current_row = current_id(state.inputs) == target and state.live()
            if is_current_row and self._values_current(context.scope, state, target):
                restored = False
            else:
                self._land_event(context, "restore", state, target)
                restored = True
        return models.MemoryRestoreResponse(memory_id=target, version=state.number(target), restored=restored)

    def erase(self, context: CallContext, request: models.MemoryKeyRequest) -> models.MemoryEraseResponse:
        """Removes every trace of a key, from every table (D36)."""
        with self._writer.holding(request.memory_key):
            found, counts, done = erase(self._store, context.scope, request.memory_key, self._forget)
        self._writer.wake("projection_retry", context.scope)
        return models.MemoryEraseResponse(found=found, erased=counts, done=done)

    def link(self, context: CallContext, request: models.MemoryLinkRequest) -> models.MemoryLinkResponse:
        """Asserts an edge between two rows. Raises `NotFound` if either does not exist."""
        scope = context.scope
        for field, key in (("from_key", request.from_key), ("to_key", request.to_key)):
            if read_state(self._store, scope, key).current is None:
                raise NotFound("no_such_memory", f"{field}: no row {key!r}")
        ends = {"from_key": request.from_key, "to_key": request.to_key, "link_type": request.link_type}
        stood = self._store.rows(sql("memory.link"), org=scope.org, namespace=scope.namespace, **ends)
        if not stood[0][0]:
            now = clock.now()
            self._store.insert(
                "memory_links",
                ("org", "namespace", "from_key", "to_key", "link_type", "agent", "at", "first_wins"),
                [[scope.org, scope.namespace, *ends.values(), context.agent or "", now, first_wins(now)]],
            )
        return models.MemoryLinkResponse(**ends, created=not stood[0][0])

    def _write_many(
        self, context: CallContext, drafts: Sequence[tuple[int, Draft]], refused: list[models.Refused]
    ) -> models.MemorySetManyResponse:
        report = self._writer.write(context, [draft for _, draft in drafts])
        written = []
        for place, (index, _) in enumerate(drafts):
            if error := report.errors.get(place):
                refused.append(models.Refused(index=index, code=error.code, message=error.message))
            else:
                done = _written(report.results[place], report.degraded)
                written.append(models.BulkWritten(index=index, **done))
        refused.sort(key=lambda each: each.index)
        warnings = self._warnings(context.scope, [draft for _, draft in drafts])
        return models.MemorySetManyResponse(written=written, refused=refused, ontology_warnings=warnings)

    def _update(
        self,
        context: CallContext,
        state: KeyState,
        request: models.MemoryUpdateRequest | models.MemoryUpdateByIdRequest,
    ) -> models.MemoryUpdateResponse:
        row = state.current
        if row is None:
            return models.MemoryUpdateResponse(updated=False, reason="not_found")
        named = request.model_fields_set
        changes: dict[str, Any] = {
            name: getattr(request, name)
            for name in ("value", "entities", "sensitivity", "tags", "confidence")
            if name in named and (name == "value" or getattr(request, name) is not None)
        }
        for name in ("valid_at", "valid_to"):
            if name in named:
                changes[name] = clock.optional_micros(getattr(request, name))
        if "relations" in named:
            changes["relations"] = stated(request.relations)
        changes["supersedes"] = tuple(dict.fromkeys(request.supersedes))
        changes["if_match_sha256"] = request.if_match_sha256
        changes["dry_run"] = request.dry_run
        draft = merged(row, json.loads(row.value), changes, row.path if row.path == MESSAGE else POINT)
        draft.check_dates()
        report = self._writer.write(context, [draft])
        if report.errors:
            raise report.errors[0]
        result = report.results[0]
        return models.MemoryUpdateResponse(
            updated=not result.noop,
            reason="noop" if result.noop else None,
            status="live",
            **_written(result, report.degraded),
            ontology_warnings=self._warnings(context.scope, [draft]),
        )

    def _restore_target(self, scope: Scope, state: KeyState, request: models.MemoryRestoreRequest) -> str:
        rows = state.inputs.rows
        if not rows:
            raise NotFound("no_such_memory", "memory_key: no row of that key, or it was erased")
        if request.memory_id is not None:
            if all(row.memory_id != request.memory_id for row in rows):
                raise NotFound("no_such_memory", "memory_id: no such version, or it was erased")
            return request.memory_id
        if request.version is not None:
            if not 1 <= request.version <= len(rows):
                raise NotFound("no_such_version", f"version: the key has versions 1 to {len(rows)}")
            return rows[request.version - 1].memory_id
        current = state.current.memory_id if state.current else ""
        target = state.restore_target(bool(current) and self._values_current(scope, state, current))
        if target is None:
            raise Conflict("nothing_to_restore", "memory_key: there is no earlier version to restore")
        return target

    def _values_current(self, scope: Scope, state: KeyState, memory_id: str) -> bool:
        """Whether restoring a live row would change nothing of what it states (D12)."""
        row = next(row for row in state.inputs.rows if row.memory_id == memory_id)
        slots: dict[tuple[str, str], dict[str, list[Interval]]] = {}
        for subject, relation, object_, *span in self._store.rows(
            sql("memory.triples_of_row"), org=scope.org, namespace=scope.namespace, memory_id=memory_id
        ):
            slots.setdefault((subject, relation), {}).setdefault(object_, []).append(Interval(*span))
        if not slots:
            # Stated but not there: not projected yet, so the Undo has to be seen by the replay.
            return not row.stated_relations() or row.sensitivity == "high"
        ontology, now = Ontology.merged(read_context(self._store, scope).ontologies), clock.now()
        return all(
            values_current(values.values(), ontology.cardinality(relation), now)
            for (_, relation), values in slots.items()
        )

    def _land_event(self, context: CallContext, kind: str, state: KeyState, memory_id: str) -> None:
        scope, key = context.scope, state.inputs.memory_key
        landed = [row.arrival for row in state.inputs.rows] + [e.at for e in state.inputs.events]
        at = max(clock.now(), max(landed) + 1)
        event_id = digest("event", scope.org, scope.namespace, key, kind, state.inputs.head(), memory_id)
        hashed = key_hash(scope.org, scope.namespace, key)
        self._writer.land_event(context, kind, key, hashed, event_id, memory_id, at)

    def _key_of(self, scope: Scope, memory_id: str) -> str | None:
        found = self._store.rows(
            sql("inputs.key_of_id"), org=scope.org, namespace=scope.namespace, memory_id=memory_id
        )
        return found[0][0] if found else None

    def _warnings(self, scope: Scope, drafts: Sequence[Draft]) -> list[str]:
        relations = [each.relation for draft in drafts for each in draft.relations or ()]
        if not relations:
            return []
        return Ontology.merged(read_context(self._store, scope).ontologies).warnings(relations=relations)


def _written(result: WriteResult, degraded: Sequence[str]) -> dict[str, Any]:
    return {
        "memory_id": result.row.memory_id,
        "memory_key": result.row.memory_key,
        "version": result.version,
        "content_sha256": result.row.content_sha256,
        "noop": result.noop,
        "degraded": [] if result.noop else list(degraded),
        "advisories": list(result.advisories),
    }


def _version(state: KeyState, row: MemoryRow) -> dict[str, Any]:
    return {
        "memory_id": row.memory_id,
        "memory_key": row.memory_key,
        "version": state.number(row.memory_id),
        "value": json.loads(row.value),
        "entities": list(row.entities) if row.entities_given else None,
        "relations": [_relation(each) for each in row.stated_relations()],
        "tags": list(row.tags),
        "confidence": row.confidence,
        "valid_at": clock.optional_instant(row.valid_at),
        "valid_to": clock.optional_instant(row.valid_to),
        "sensitivity": row.sensitivity,
        "status": state.histories[row.memory_id].status,
        "created_at": clock.instant(row.arrival),
    }


def _relation(stated_: StatedRelation) -> models.StatedRelation:
    return models.StatedRelation(
        subject=stated_.subject,
        relation=stated_.relation,
        object=stated_.object,
        valid_from=clock.optional_instant(stated_.valid_from),
        valid_to=clock.optional_instant(stated_.valid_to),
        confidence=stated_.confidence,
    )
