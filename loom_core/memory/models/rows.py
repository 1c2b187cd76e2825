"""What the ops on one row, named by its key, take and return: reads, Undo, removal, links."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from loom_core.memory.models.entries import RowStatus, Sensitivity
from loom_core.wire import Answer, Count, Identified, MemoryKey, Name, Stamp

LINK_TYPE = r"^[a-z][a-z0-9_]{0,63}$"


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
