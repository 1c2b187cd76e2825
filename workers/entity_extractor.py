"""Tags rows that were written without entities, off the write path (D37)."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING

from loom_core.coordination.work import Deadline, Handled
from loom_core.tenancy import Scope
from workers.parts import Parts
from workers.spec import LATER, WorkerSpec

if TYPE_CHECKING:
    from loom_core.tagging.reader import Reader


class EntityExtractor:
    """With provider `fake` nothing is due: rows stay untagged until a real provider is set (D38)."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def due(self) -> Collection[Scope]:
        """Namespaces with rows to read."""
        from loom_core.tagging.due import due_scopes

        return () if self._parts.settings.llm_provider == "fake" else due_scopes(self._parts.store)

    def handle(self, scope: Scope, deadline: Deadline) -> Handled:
        """Some batches of texts."""
        from loom_core.tagging.turn import tag_turn

        return tag_turn(self._parts.store, scope, self._reader, self._parts.settings, deadline)

    @cached_property
    def _reader(self) -> Reader:
        from loom_core.coordination.connection import connect_redis
        from loom_core.tagging.reader import build_reader

        settings = self._parts.settings
        return build_reader(settings, self._parts.store, connect_redis(settings, text=False))


SPEC = WorkerSpec(
    name="entity_extractor",
    summary="Reads rows written without entities and tags them",
    gate="entity_extract_enabled",
    interval="entity_extract_interval_s",
    priority=LATER,
    make=EntityExtractor,
)
