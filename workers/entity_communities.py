"""Clusters the entities of each covered namespace into communities (D30 to D32)."""

from __future__ import annotations

from collections.abc import Collection

from loom_core.coordination.work import Deadline, Handled
from loom_core.tenancy import Scope
from workers.parts import Parts
from workers.spec import LATER, WorkerSpec


class EntityCommunities:
    """One namespace is one batch: it is computed by one process, whole."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def due(self) -> Collection[Scope]:
        """Covered namespaces that were not looked at in this interval."""
        from loom_core.community_pass.coverage import due_scopes

        return due_scopes(self._parts.store, self._parts.settings)

    def handle(self, scope: Scope, deadline: Deadline) -> Handled:  # noqa: ARG002 - a pass is never cut short
        """One pass over a namespace, skipped if its graph is what it was."""
        from loom_core.community_pass.run import run_if_changed

        return run_if_changed(self._parts.store, scope, self._parts.settings)


SPEC = WorkerSpec(
    name="entity_communities",
    summary="Finds communities of entities, in namespaces with consolidation on or walked lately",
    gate="entity_communities_enabled",
    interval="entity_communities_interval_s",
    priority=LATER,
    make=EntityCommunities,
)
