"""What the `memory.*` ops take and return.

A request is validated once, at the edge; services receive it as it stands here, with instants in UTC,
relations in one shape, and bulk entries parted into those that can be written and those that are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    Field,
    GetJsonSchemaHandler,
    PrivateAttr,
    ValidationError,
    WrapValidator,
    model_validator,
)
from pydantic_core import CoreSchema

from loom_core.wire import (
    INTEGRAL,
    MAX_NAME_CHARS,
    Answer,
    Confidence,
    Count,
    Identified,
    Instant,
    MemoryKey,
    Name,
    Request,
    Stamp,
    Text,
    Value,
    capped,
    none_as,
    problems,
)

MAX_ENTITIES = 1_000
"""A memory's 100 pairs use up 15 entities; the rest serve search. A thousand is far past any sentence."""
MAX_RELATIONS = 8
MAX_BULK = 10_000

Sensitivity = Literal["normal", "high"]
RowStatus = Literal["live", "superseded", "deleted"]
LINK_TYPE = r"^[a-z][a-z0-9_]{0,63}$"


class Relation(Request):
    """A typed triple as the caller states it: an object, or the list `[subject, relation, object]` (D23)."""

    fields_are_named_under: ClassVar[str] = "relations[]."

    subject: Text = Field(min_length=1, max_length=MAX_NAME_CHARS, description="Who or what it is about.")
    relation: Text = Field(min_length=1, max_length=MAX_NAME_CHARS, description="The verb, in any tense.")
    object: Text = Field(min_length=1, max_length=MAX_NAME_CHARS, description="The other end.")
    valid_from: Instant | None = Field(None, description="When the fact starts; else the row's `valid_at`.")
    valid_to: Instant | None = Field(None, description="When it ends; else the row's `valid_to`.")
    confidence: Confidence | None = Field(None, description="0 to 1; else the row's.")

    @model_validator(mode="before")
    @classmethod
    def from_list(cls, data: Any) -> Any:
        """Take the list shape."""
        if isinstance(data, list):
            if len(data) != 3:
                raise ValueError("a relation given as a list is [subject, relation, object]")
            return dict(zip(("subject", "relation", "object"), data, strict=True))
        return data


class _ListOrObject:
    """Shows both shapes of a relation in the JSON schema."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        end = {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS, "pattern": r"^[^\x00]*$"}
        return {"anyOf": [{"type": "array", "items": end, "minItems": 3, "maxItems": 3}, handler(schema)]}


Relations = Annotated[
    list[Annotated[Relation, _ListOrObject()]],
    Field(max_length=MAX_RELATIONS),
]
Entities = Annotated[list[Text], Field(max_length=MAX_ENTITIES)]
Tags = Annotated[list[Name], Field(max_length=100)]


class _Dated(Request):
    """Checks the dates that a write states: a span must not end before it starts."""

    def dates(self) -> Iterator[tuple[str, datetime | None, datetime | None]]:
        """The spans this request states, each with the name of the field that ends it."""
        start, end = getattr(self, "valid_at", None), getattr(self, "valid_to", None)
        yield "valid_to", start, end
        for index, item in enumerate(getattr(self, "relations", None) or ()):
            yield f"relations[{index}].valid_to", item.valid_from or start, item.valid_to or end

    @model_validator(mode="after")
    def spans_run_forward(self) -> Self:
        """Refuse an end before its start, the relations' too where the row's own dates complete them (D4)."""
        for name, start, end in self.dates():
            if start is not None and end is not None and end < start:
                raise ValueError(f"{name}: ends before it starts")
        return self


class MemoryEntry(_Dated):
    """One memory as a writer states it: a point write, or one entry of `memory.set_many`."""

    fields_are_named_under: ClassVar[str] = "entries[]."

    memory_key: MemoryKey = Field(description="The row's key; setting it again makes a new version.")
    value: Value = Field(description="Any JSON value, at most 8 MiB.")
    entities: Entities | None = Field(
        None, description="Names this memory is about. `[]` says: none. Absent: the extractor tags the row."
    )
    relations: Relations | None = Field(None, description="Typed triples, at most 8.")
    valid_at: Instant | None = Field(None, description="Since when it holds; absent: since it arrived.")
    valid_to: Instant | None = Field(None, description="Until when it holds.")
    sensitivity: Sensitivity = Field("normal", description="`high` text is never read by an extractor.")
    tags: Tags = Field(default_factory=list, description="Labels of the caller's own.")
    confidence: Confidence = Field(1.0, description="0 to 1.")
    supersedes: list[MemoryKey] = Field(
        default_factory=list, max_length=MAX_BULK, description="Other keys that this row replaces."
    )
    if_match_sha256: str | None = Field(
        None, pattern="^[0-9a-f]{64}$", description="Write only over a version with this content hash."
    )
    dry_run: bool = Field(False, description="Check and answer, write nothing.")

    @model_validator(mode="after")
    def replaces_others_only(self) -> Self:
        """A row cannot replace itself."""
        if self.memory_key in self.supersedes:
            raise ValueError("supersedes: names the row's own key")
        return self


class MemorySetRequest(MemoryEntry, Identified):
    """`memory.set`: one row."""

    fields_are_named_under: ClassVar[str] = ""


class Refused(Answer):
    """One bulk entry that was not written, and why."""

    index: int
    code: str
    message: str


class Written(Answer):
    """What one write did."""

    memory_id: str
    memory_key: str
    version: int
    content_sha256: str
    status: RowStatus = "live"
    noop: bool = Field(False, description="The same content was there already; nothing was written.")
    degraded: list[str] = Field(default_factory=list, description="Projections that failed; retried later.")
    advisories: list[str] = Field(default_factory=list, description="What was clamped or dropped.")


class MemorySetResponse(Written):
    """The row as it now stands."""

    ontology_warnings: list[str] = Field(default_factory=list, description="Names outside the ontology.")


def _entry_or_refusal(value: Any, validate: Any) -> Any:
    """Judge one bulk entry on its own: a bad one is refused, the rest is written."""
    try:
        return validate(value)
    except ValidationError as error:
        return Refused(index=-1, code="invalid_request", message=problems(error))


class _Bulk(Identified):
    """A call with many entries, each judged on its own."""

    _accepted: list[tuple[int, Any]] = PrivateAttr(default_factory=list)
    _refused: list[Refused] = PrivateAttr(default_factory=list)

    def _part(self, items: list[Any]) -> None:
        for index, item in enumerate(items):
            if isinstance(item, Refused):
                self._refused.append(item.model_copy(update={"index": index}))
            else:
                self._accepted.append((index, item))

    @property
    def refused(self) -> list[Refused]:
        """The entries that failed validation, with their places in the call."""
        return self._refused


class MemorySetManyRequest(_Bulk):
    """`memory.set_many`: many rows; extraction applies to entries without entities."""

    entries: list[Annotated[MemoryEntry, WrapValidator(_entry_or_refusal)]] = Field(
        max_length=MAX_BULK, description="Rows with the fields of `memory.set`."
    )

    def model_post_init(self, context: Any) -> None:
        """Part the entries."""
        super().model_post_init(context)
        self._part(self.entries)

    @property
    def accepted(self) -> list[tuple[int, MemoryEntry]]:
        """The entries that can be written, with their places in the call."""
        return self._accepted


class BulkWritten(Written):
    """What one entry's write did."""

    index: int


class MemorySetManyResponse(Answer):
    """Every entry is in exactly one of the two lists."""

    written: list[BulkWritten] = Field(default_factory=list)
    refused: list[Refused] = Field(default_factory=list)
    ontology_warnings: list[str] = Field(default_factory=list)


class Message(Request):
    """One message of a conversation."""

    fields_are_named_under: ClassVar[str] = "messages[]."

    role: Name
    content: Text = Field(max_length=1_000_000)
    at: Instant | None = Field(None, description="When it was said; else the call's `valid_at`.")


class MemorySetFromMessagesRequest(_Bulk):
    """`memory.set_from_messages`: one row a message, keyed by prefix and content hash."""

    messages: list[Annotated[Message, WrapValidator(_entry_or_refusal)]] = Field(max_length=MAX_BULK)
    key_prefix: Annotated[str, Field(max_length=512)] | None = Field(
        None, description="Leads each row's key."
    )
    valid_at: Instant | None = Field(None, description="For messages without `at`.")
    sensitivity: Sensitivity = "normal"

    def model_post_init(self, context: Any) -> None:
        """Part the messages."""
        super().model_post_init(context)
        self._part(self.messages)

    @property
    def accepted(self) -> list[tuple[int, Message]]:
        """The messages that can be written, with their places in the call."""
        return self._accepted


class MemorySetFromMessagesResponse(MemorySetManyResponse):
    """As `memory.set_many`, and what becomes of the extraction."""

    deferred: bool = Field(False, description="The fleet extracts later.")
    queue_id: str | None = Field(None, description="Names the deferred work.")
    pipeline_errors: list[str] = Field(default_factory=list)


class _Changes(_Dated):
    """The fields an update may name. What it does not name stays: read `model_fields_set`.

    `null` is a value for `value`, `relations` and the dates; of the others it says "as it is".
    """

    value: Value = Field(None, description="The new value; absent: it stays.")
    entities: Entities | None = Field(None, description="`[]`: none. Absent or `null`: they stay.")
    relations: Relations | None = Field(None, description="`null` or `[]`: none.")
    valid_at: Instant | None = Field(None, description="`null`: since the row arrived.")
    valid_to: Instant | None = Field(None, description="`null` takes an end away.")
    sensitivity: Sensitivity | None = Field(None, description="Absent or `null`: it stays.")
    tags: Tags | None = Field(None, description="Absent or `null`: they stay.")
    confidence: Confidence | None = Field(None, description="Absent or `null`: it stays.")
    supersedes: list[MemoryKey] = Field(default_factory=list, max_length=MAX_BULK)
    if_match_sha256: str | None = Field(None, pattern="^[0-9a-f]{64}$")
    dry_run: bool = False


class MemoryUpdateRequest(_Changes, Identified):
    """`memory.update`: by key."""

    memory_key: MemoryKey


class MemoryUpdateByIdRequest(_Changes, Identified):
    """`memory.update_by_id`: by the id of the row's current version."""

    memory_id: Name


class MemoryUpdateResponse(Answer):
    """As `memory.set`; all empty where `updated` is false because there is no such row (D43)."""

    updated: bool
    reason: str | None = Field(None, description="Why not: `not_found`, `noop`.")
    memory_id: str | None = None
    memory_key: str | None = None
    version: int | None = None
    content_sha256: str | None = None
    status: RowStatus | None = None
    noop: bool = False
    degraded: list[str] = Field(default_factory=list)
    advisories: list[str] = Field(default_factory=list)
    ontology_warnings: list[str] = Field(default_factory=list)


class MemoryKeyRequest(Identified):
    """The ops that name one row by its key: get, history, delete, erase."""

    memory_key: MemoryKey


class StatedRelation(Answer):
    """A relation as its writer stated it."""

    subject: str
    relation: str
    object: str
    valid_from: Stamp | None = None
    valid_to: Stamp | None = None
    confidence: float | None = None


class MemoryVersion(Answer):
    """One version of a row."""

    memory_id: str | None = None
    memory_key: str | None = None
    version: int | None = None
    value: Any = None
    entities: list[str] | None = None
    relations: list[StatedRelation] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)
    confidence: float | None = None
    valid_at: Stamp | None = None
    valid_to: Stamp | None = None
    sensitivity: Sensitivity | None = None
    status: RowStatus | None = None
    created_at: Stamp | None = None


class MemoryGetResponse(MemoryVersion):
    """The current version; every other field is empty where `found` is false."""

    found: bool


class MemoryHistoryResponse(Answer):
    """Every version of a key, newest first."""

    found: bool
    memory_key: str
    versions: list[MemoryVersion] = Field(default_factory=list)


class MemoryDeleteResponse(Answer):
    """`tombstoned` is false where there was nothing live to delete."""

    found: bool
    tombstoned: bool


class MemoryRestoreRequest(Identified):
    """`memory.restore` (Undo): a version by key and number or by id; by key alone, the one before (D12)."""

    memory_key: MemoryKey | None = None
    version: Count | None = None
    memory_id: Name | None = None

    @model_validator(mode="after")
    def names_one_version(self) -> Self:
        """Exactly one way of naming the version."""
        if self.memory_key is None and self.memory_id is None:
            raise ValueError("memory_key or memory_id is required")
        if self.version is not None and (self.memory_id is not None or self.memory_key is None):
            raise ValueError("version: goes with memory_key, not with memory_id")
        return self


class MemoryRestoreResponse(Answer):
    """`restored` is false where the version was live and current already (D12)."""

    memory_id: str
    version: int
    restored: bool


class MemoryEraseResponse(Answer):
    """`erased` counts rows by table; `done` is false while the saga still runs (D36)."""

    found: bool
    erased: dict[str, int] = Field(default_factory=dict)
    done: bool


class MemoryLinkRequest(Identified):
    """`memory.link`: an edge that an agent or person asserts. The type is kept as it is written."""

    from_key: MemoryKey
    to_key: MemoryKey
    link_type: str = Field(pattern=LINK_TYPE, description="supports, depends_on, caused, contradicts, …")

    @model_validator(mode="after")
    def joins_two_rows(self) -> Self:
        """A row is not linked to itself."""
        if self.from_key == self.to_key:
            raise ValueError("to_key: is the same as from_key")
        return self


class MemoryLinkResponse(Answer):
    """`created` is false where the link stood already."""

    from_key: str
    to_key: str
    link_type: str
    created: bool


Limit = Annotated[int, Field(ge=1), INTEGRAL, capped(500)]


class MemorySearchRequest(Identified):
    """`memory.search`: by text, or one hop out from the query's entities."""

    query: Text = Field(max_length=10_000)
    search_mode: Literal["text", "graph"] = "text"
    entity_filter: Annotated[list[Text], none_as(list), Field(max_length=MAX_ENTITIES)] = Field(
        default_factory=list, description="Rows about these entities rank higher."
    )
    limit: Limit = 20


class SearchHit(Answer):
    """A row that answers the query."""

    memory_key: str
    memory_id: str
    score: float
    value: Any
    via: str = Field(description="What led to it: text, entity, co_occur, triple or link.")


class MemorySearchResponse(Answer):
    """Best first; ties by key."""

    hits: list[SearchHit] = Field(default_factory=list)


class MemoryNeighboursRequest(MemoryKeyRequest):
    """`memory.related` and `memory.backlinks`."""

    limit: Limit = 20


class MemoryTimelineRequest(Identified):
    """`memory.timeline`: an entity's memories in time order."""

    entity: Text
    limit: Limit = 100


class RelatedRow(Answer):
    """A row that shares entities with the one asked about."""

    memory_key: str
    memory_id: str
    score: float
    shared: list[str] = Field(default_factory=list)
    value: Any = None


class DatedRow(Answer):
    """A row at its place in time."""

    memory_key: str
    memory_id: str
    at: Stamp
    shared: list[str] = Field(default_factory=list)
    value: Any = None


class MemoryRelatedResponse(Answer):
    """Strongest first (D44)."""

    found: bool
    rows: list[RelatedRow] = Field(default_factory=list)


class MemoryBacklinksResponse(Answer):
    """Newest first (D44)."""

    found: bool
    rows: list[DatedRow] = Field(default_factory=list)


class MemoryTimelineResponse(Answer):
    """Oldest first (D44). `entity` is the canonical form, or "" where there is none."""

    entity: str
    rows: list[DatedRow] = Field(default_factory=list)
