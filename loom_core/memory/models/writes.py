"""What the ops that write rows take and return: one row, many, messages, changes."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field, PrivateAttr, ValidationError, WrapValidator

from loom_core.memory.models.entries import (
    MAX_BULK,
    Dated,
    Entities,
    MemoryEntry,
    Relations,
    RowStatus,
    Sensitivity,
    Tags,
)
from loom_core.wire import (
    Answer,
    Confidence,
    Identified,
    Instant,
    MemoryKey,
    Name,
    Request,
    Text,
    Value,
    problems,
)


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


class _Changes(Dated):
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
