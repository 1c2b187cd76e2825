"""The `ops.*` ops: the state of this installation, never anybody's data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version

from loom_core.fleet_state import WORKERS, gate_is_on, snapshot
from loom_core.server import models
from loom_core.settings import Settings
from loom_core.storage.store import Store
from loom_core.tenancy import CallContext


class OpsService:
    """Health, capabilities, and the fleet worker by worker."""

    def __init__(self, store: Store, settings: Settings, ready: Callable[[], Mapping[str, bool]]) -> None:
        self._store = store
        self._settings = settings
        self._ready = ready

    def health(self, _context: CallContext, _request: models.OpsRequest) -> models.OpsHealthResponse:
        """Whether each part answers now."""
        checks = dict(self._ready())
        return models.OpsHealthResponse(status="ok" if all(checks.values()) else "degraded", checks=checks)

    def capabilities(
        self, _context: CallContext, _request: models.OpsRequest
    ) -> models.OpsCapabilitiesResponse:
        """What this server can do as it is configured."""
        from loom_core.server.registry import OPS

        return models.OpsCapabilitiesResponse(
            version=version("loom-memory"),
            ops=[op.name for op in OPS],
            llm_provider=self._settings.llm_provider,
            workers={name: gate_is_on(self._settings, name) for name in WORKERS},
        )

    def fleet(self, _context: CallContext, _request: models.OpsRequest) -> models.OpsFleetResponse:
        """What `loom status` prints."""
        return models.OpsFleetResponse(workers=snapshot(self._store, self._settings))
