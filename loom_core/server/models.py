"""What the `ops.*` ops take and return: the state of this installation, never anybody's data."""

from __future__ import annotations

from pydantic import Field

from loom_core.wire import Answer, Scoped, Stamp


class OpsRequest(Scoped):
    """`ops.*`: no input of their own."""


class OpsHealthResponse(Answer):
    """Whether each part answers; `status` is `ok` where all do."""

    status: str = Field(description="`ok` or `degraded`.")
    checks: dict[str, bool] = Field(description="By part: stores, migrations.")


class OpsCapabilitiesResponse(Answer):
    """What this server can do as it is configured."""

    version: str
    ops: list[str]
    llm_provider: str
    workers: dict[str, bool] = Field(description="Each worker's gate.")


class WorkerStatus(Answer):
    """One worker of the fleet."""

    worker: str
    enabled: bool = Field(description="Its gate.")
    last_run: Stamp | None = None
    backlog: int = Field(description="Items waiting.")
    oldest_age_s: float | None = Field(None, description="Age of the oldest, in seconds.")
    failures: dict[str, int] = Field(default_factory=dict, description="By state: open, dead, …")


class OpsFleetResponse(Answer):
    """The fleet, worker by worker."""

    workers: list[WorkerStatus]
