"""Derives slots again whose close failed, as of the write or Undo that made it."""

from __future__ import annotations

from collections.abc import Collection

from loom_core.coordination.work import Deadline, Handled
from loom_core.tenancy import Scope
from workers.parts import Parts
from workers.spec import SOON, WorkerSpec


class SupersessionReplay:
    """Failures of the projection `closes`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def due(self) -> Collection[Scope]:
        """Namespaces with closes to replay."""
        from loom_core.recovery.closes import due_scopes

        return due_scopes(self._parts.store)

    def handle(self, scope: Scope, deadline: Deadline) -> Handled:  # noqa: ARG002 - a batch takes seconds
        """One batch of closes."""
        from loom_core.recovery.closes import replay_batch

        return replay_batch(self._parts.store, scope, self._parts.settings)


SPEC = WorkerSpec(
    name="supersession_replay",
    summary="Replays supersession closes that failed",
    gate="supersession_replay_enabled",
    interval="supersession_replay_interval_s",
    priority=SOON,
    make=SupersessionReplay,
)
