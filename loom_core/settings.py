"""Every `LOOM_*` setting in one class: name, default, unit, and why it exists.

The README's table is generated from this class (`loom_core.settings_table`), and a test compares them.
Nothing else reads the environment for a setting, except the client, which must not import this: it takes
`LOOM_BASE_URL` and `LOOM_API_KEY` by itself.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from loom_core.errors import Invalid


class Settings(BaseSettings):
    """The configuration of one process, read from `LOOM_*` environment variables.

    Raises `pydantic.ValidationError` for a value of the wrong type, and for limits in the wrong order.
    """

    model_config = SettingsConfigDict(env_prefix="LOOM_", extra="ignore", frozen=True)

    # Stores
    clickhouse_url: SecretStr | None = Field(
        None, description="`http(s)://user:password@host:port`, or `chdb:///path` for one process"
    )
    redis_url: SecretStr | None = Field(None, description="`redis(s)://user:password@host:port/db`")
    data_dir: Path = Field(Path(".loom"), description="folder of the embedded stores and `stack.json`")
    clickhouse_cluster: str | None = Field(
        None, description="cluster name: tables are made replicated, `ON CLUSTER`; quorum inserts are used"
    )
    clickhouse_connect_timeout_s: float = Field(5, gt=0, description="seconds to open a connection")
    clickhouse_receive_timeout_s: float = Field(30, gt=0, description="seconds to wait for an answer")
    clickhouse_ca_cert: Path | None = Field(None, description="CA file for a TLS connection to ClickHouse")

    # Server and callers
    auth_secret: SecretStr | None = Field(
        None, description="signs tokens; unset: single-user server on loopback, no tokens"
    )
    org: str = Field("dev", description="the install's org, taken where a single-user call names none")
    namespace: str = Field("local", description="the install's namespace, likewise")
    base_url: str = Field("http://127.0.0.1:7777", description="where client and commands find the server")
    api_key: SecretStr | None = Field(None, description="the token that client and commands send")
    rate_limit_per_minute: int = Field(0, ge=0, description="calls a minute and token; 0: no limit")
    log_format: Literal["console", "json"] = Field("console", description="log lines for people or machines")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="least level logged")
    otel_endpoint: str | None = Field(None, description="OTLP/HTTP collector; unset: no traces")

    # entity_extractor
    entity_extract_enabled: bool = Field(True, description="gate of `entity_extractor`")
    entity_extract_interval_s: int = Field(30, ge=1, description="seconds between its beats")
    entity_extract_batch: int = Field(64, ge=1, le=10_000, description="rows a batch")
    entity_extract_concurrency: int = Field(16, ge=1, le=512, description="LLM calls in flight a process")
    entity_extract_max_attempts: int = Field(5, ge=1, description="tries before a row is dead")
    entity_extract_timeout_s: int = Field(60, ge=1, description="seconds one LLM call may take")

    # projection_retry
    projection_retry_enabled: bool = Field(True, description="gate of `projection_retry`")
    projection_retry_interval_s: int = Field(30, ge=1, description="seconds between its beats")
    projection_retry_max_attempts: int = Field(10, ge=1, description="tries before a failure is dead")
    projection_retry_base_delay_s: float = Field(30, ge=0, description="first delay; doubles, with jitter")
    projection_retry_max_delay_s: float = Field(21_600, ge=0, description="longest delay between tries")
    projection_retry_orphan_after_s: float = Field(
        120, ge=0, description="age at which a landed row without a receipt counts as failed (D34)"
    )

    # supersession_replay
    supersession_replay_enabled: bool = Field(True, description="gate of `supersession_replay`")
    supersession_replay_interval_s: int = Field(60, ge=1, description="seconds between its beats")
    supersession_replay_batch: int = Field(256, ge=1, le=10_000, description="closes a batch")

    # entity_communities
    entity_communities_enabled: bool = Field(False, description="gate of `entity_communities`")
    entity_communities_interval_s: int = Field(3600, ge=1, description="seconds between its beats")
    entity_communities_hub_drop_fraction: float = Field(
        0.001, ge=0, lt=1, description="share of entities dropped first, highest degree first (D31)"
    )
    entity_communities_hub_drop_max: float | None = Field(
        None, gt=0, lt=1, description="the drop never passes it; unset: max(0.05, min(0.25, 50 / n))"
    )
    entity_communities_giant_share: float = Field(
        0.1, gt=0, le=1, description="the drop doubles while one community holds more than this share"
    )
    entity_communities_walked_days: int = Field(14, ge=0, description="namespaces walked in these days count")
    entity_communities_levels: int = Field(2, ge=1, le=5, description="levels of communities stored")
    entity_communities_memory_mb: int = Field(
        6144, ge=64, description="a namespace whose estimate is over this is skipped and named"
    )

    # The fleet's limits, in the order they must hold: a tick stops itself, then is stopped, before its lease
    # ends and long before Redis would hand its message to another worker.
    tick_budget_s: float = Field(45, gt=0, description="a tick starts no new batch after this")
    tick_soft_limit_s: int = Field(300, ge=1, description="Celery soft time limit of a tick")
    tick_hard_limit_s: int = Field(330, ge=1, description="Celery hard time limit of a tick")
    lease_s: int = Field(360, ge=1, description="life of a lease that nobody renews")
    visibility_timeout_s: int = Field(600, ge=1, description="Redis hands an unacknowledged message on")
    shards: int = Field(16, ge=1, le=1024, description="shards the namespaces are spread over; one per fleet")

    # LLM
    llm_provider: Literal["fake", "spacy", "litellm"] = Field(
        "fake", description="`fake` extracts nothing; `spacy` is local; `litellm` calls a model"
    )
    spacy_model: str = Field("en_core_web_sm", description="installed spaCy pipeline")
    llm_model: str | None = Field(None, description="litellm model id, e.g. `openai/gpt-4o-mini`")
    llm_api_base: str | None = Field(None, description="where the model is served, if not at its default")
    llm_api_key: SecretStr | None = Field(None, description="its key")
    llm_fallback_models: str = Field("", description="comma-separated models to fall back to, in order")
    llm_rpm: int = Field(0, ge=0, description="requests a minute and process; 0: no limit")
    llm_tpm: int = Field(0, ge=0, description="tokens a minute and process; 0: no limit")
    llm_daily_budget_usd: float = Field(0, ge=0, description="UTC day's spending at most; 0: no limit")

    # Reads
    facts_traverse_hub_share: float = Field(0.01, ge=0, le=1, description="default `hub_share` of a walk")
    facts_traverse_rank_by: Literal["co_occur", "specificity", "cosine"] = Field(
        "cosine", description="default `rank_by` of a walk"
    )
    memory_search_graph_seed: Literal["entities", "hits"] = Field(
        "entities",
        description="seeds of graph-mode search: the query's entities, or the text hits' too (D44)",
    )

    # Tests
    testing: bool = Field(False, description="allows `LOOM_FAULT`")
    fault: str = Field(
        "", description="`<projection or worker>:<step>:<raise|exit|hang>[:count]`, tests only"
    )

    @model_validator(mode="after")
    def limits_are_in_order(self) -> Self:
        """Refuse limits whose order would let two ticks overlap or a message be handed out twice."""
        ordered = [
            ("tick_budget_s", self.tick_budget_s),
            ("tick_soft_limit_s", self.tick_soft_limit_s),
            ("tick_hard_limit_s", self.tick_hard_limit_s),
            ("lease_s", self.lease_s),
            ("visibility_timeout_s", self.visibility_timeout_s),
        ]
        for (low_name, low), (high_name, high) in pairwise(ordered):
            if low >= high:
                raise ValueError(
                    f"LOOM_{low_name.upper()} ({low}) must be less than LOOM_{high_name.upper()} ({high})"
                )
        if self.entity_extract_timeout_s >= self.tick_soft_limit_s:
            raise ValueError(
                f"LOOM_ENTITY_EXTRACT_TIMEOUT_S ({self.entity_extract_timeout_s}) must be less than "
                f"LOOM_TICK_SOFT_LIMIT_S ({self.tick_soft_limit_s})"
            )
        if self.fault and not self.testing:
            raise ValueError("LOOM_FAULT needs LOOM_TESTING=1: faults are for tests only")
        return self

    def require_clickhouse_url(self) -> str:
        """The ClickHouse address. Raises `Invalid` saying what to set."""
        if self.clickhouse_url is None:
            raise Invalid("no_clickhouse", "LOOM_CLICKHOUSE_URL is not set, and no running stack was found")
        return self.clickhouse_url.get_secret_value()

    def require_redis_url(self) -> str:
        """The Redis address. Raises `Invalid` saying what to set."""
        if self.redis_url is None:
            raise Invalid("no_redis", "LOOM_REDIS_URL is not set, and no running stack was found")
        return self.redis_url.get_secret_value()


def load_settings() -> Settings:
    """The settings as the environment has them now.

    Raises `Invalid` naming every variable that is wrong and its limit, never its value, which may be a secret.
    """
    try:
        return Settings()
    except ValidationError as error:
        wrong = [
            ": ".join(filter(None, [_variable(each["loc"]), each["msg"].removeprefix("Value error, ")]))
            for each in error.errors(include_input=False, include_url=False)
        ]
        raise Invalid("bad_setting", "; ".join(wrong)) from None


def _variable(loc: tuple[int | str, ...]) -> str:
    """`LOOM_…` of a field; nothing for a rule about several."""
    return f"LOOM_{str(loc[0]).upper().removeprefix('LOOM_')}" if loc else ""


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """The process's settings, read once. Raises as `load_settings` does."""
    return load_settings()
