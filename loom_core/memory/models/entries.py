"""One memory as a writer states it: its entities, its relations, its dates."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from loom_core.wire import MAX_NAME_CHARS, Confidence, Instant, MemoryKey, Name, Request, Text, Value

MAX_ENTITIES = 1_000
"""A memory's 100 pairs use up 15 entities; the rest serve search. A thousand is far past any sentence."""
MAX_RELATIONS = 8
MAX_BULK = 10_000

Sensitivity = Literal["normal", "high"]
RowStatus = Literal["live", "superseded", "deleted"]


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


Relations = Annotated[list[Annotated[Relation, _ListOrObject()]], Field(max_length=MAX_RELATIONS)]
Entities = Annotated[list[Text], Field(max_length=MAX_ENTITIES)]
Tags = Annotated[list[Name], Field(max_length=100)]


class Dated(Request):
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


class MemoryEntry(Dated):
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
