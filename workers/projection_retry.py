"""Projects again what failed to project, and what landed without anyone seeing it fail (D33, D34)."""

from __future__ import annotations

from collections.abc import Collection

from loom_core.coordination.work import Deadline, Handled
from loom_core.tenancy import Scope
from workers.parts import Parts
from workers.spec import SOON, WorkerSpec


class ProjectionRetry:
    """Erasures that died on their way, then due failures, then orphans."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def due(self) -> Collection[Scope]:
        """Namespaces with something to project."""
        from loom_core.recovery.retry import due_scopes

        return due_scopes(self._parts.store, self._parts.settings)

    def handle(self, scope: Scope, deadline: Deadline) -> Handled:  # noqa: ARG002 - a batch takes seconds
        """One batch of units."""
        from loom_core.coordination.answers import forget_answers
        from loom_core.recovery.retry import retry_batch

        parts = self._parts
        return retry_batch(parts.store, scope, parts.settings, forget_answers(parts.redis))


SPEC = WorkerSpec(
    name="projection_retry",
    summary="Projects rows again whose projection failed or never ran",
    gate="projection_retry_enabled",
    interval="projection_retry_interval_s",
    priority=SOON,
    make=ProjectionRetry,
)
