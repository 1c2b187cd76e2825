"""What an operator would check by hand: each finding says what was found and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import redis

from loom_core import clock
from loom_core.coordination.connection import connect_redis
from loom_core.coordination.leases import EVERY_SHARD
from loom_core.errors import LoomError
from loom_core.fleet_state import GATES, gate_is_on, snapshot
from loom_core.settings import Settings
from loom_core.storage.migrate import DEDUPLICATION_WINDOW, pending
from loom_core.storage.statements import sql
from loom_core.storage.store import Store

GOOD, WARN, BAD = "ok", "warn", "BAD"
OLDEST_CLICKHOUSE = (25, 3)
CLOCK_SKEW_S = 2.0
LATE_INTERVALS = 5
SHARDS_SEEN_S = 3600


class Finding(NamedTuple):
    """One check: its verdict, its name, what was found, and what to do where that is not well."""

    verdict: str
    what: str
    found: str
    do: str = ""


def examine(store: Store, settings: Settings) -> list[Finding]:
    """All checks, in the order a mend would take: stores first. A check that cannot be made is a finding."""
    findings: list[Finding] = []
    for check in (_clickhouse, _migrations, _windows, _redis, _limits, _shards, _provider, _fleet):
        findings += _checked(check, store, settings)
        if check is _clickhouse and findings[-1].verdict == BAD:
            break
    return findings


def _checked(
    check: Callable[[Store, Settings], Iterator[Finding]], store: Store, settings: Settings
) -> list[Finding]:
    try:
        return list(check(store, settings))
    except LoomError as error:
        return [
            Finding(
                BAD, check.__name__.strip("_"), error.message, "see the server's log, then run this again"
            )
        ]


def _clickhouse(store: Store, _: Settings) -> Iterator[Finding]:
    try:
        version, there = store.rows(sql("doctor.server"))[0]
    except LoomError as error:
        yield Finding(BAD, "ClickHouse", error.message, "start it, or mend LOOM_CLICKHOUSE_URL")
        return
    number = tuple(int(part) for part in version.split(".")[:2])
    if number < OLDEST_CLICKHOUSE:
        yield Finding(BAD, "ClickHouse", version, "25.3 or later is needed: set the image to a later one")
    skew = abs(there - clock.now()) / clock.SECOND
    if skew > CLOCK_SKEW_S:
        yield Finding(WARN, "clock", f"{skew:.1f} s apart from ClickHouse's", "run NTP on both machines")
    else:
        yield Finding(GOOD, "clock", f"{skew:.2f} s apart from ClickHouse's")
    yield Finding(GOOD, "ClickHouse", version)


def _migrations(store: Store, _: Settings) -> Iterator[Finding]:
    missing = pending(store)
    if missing:
        yield Finding(BAD, "migrations", f"missing: {', '.join(missing)}", "run `loom migrate`")
    else:
        yield Finding(GOOD, "migrations", "all applied")


def _windows(store: Store, settings: Settings) -> Iterator[Finding]:
    """`entity_degree` relies on its window: without it a repeated insert counts twice."""
    name = "replicated" if settings.clickhouse_cluster else "non_replicated"
    lines = store.rows(sql("doctor.degree_table"))
    wanted = f"{name}_deduplication_window = {DEDUPLICATION_WINDOW}"
    if lines and wanted in lines[0][0]:
        yield Finding(GOOD, "deduplication window", f"{DEDUPLICATION_WINDOW} on entity_degree")
    else:
        yield Finding(
            BAD, "deduplication window", "not as migrated",
            f"ALTER TABLE loom.entity_degree MODIFY SETTING {wanted}, then `loom verify --repair`",
        )  # fmt: skip


def _redis(_: Store, settings: Settings) -> Iterator[Finding]:
    if settings.redis_url is None:
        yield Finding(WARN, "Redis", "LOOM_REDIS_URL is not set", "set it where workers and beat run")
        return
    try:
        client = connect_redis(settings)
        info: Any = client.info("server")
        policy: Any = client.config_get("maxmemory-policy")
    except redis.RedisError as error:
        yield Finding(BAD, "Redis", type(error).__name__, "start it, or mend LOOM_REDIS_URL")
        return
    yield Finding(GOOD, "Redis", str(info.get("valkey_version") or info.get("redis_version")))
    found = str(policy.get("maxmemory-policy"))
    if found == "noeviction":
        yield Finding(GOOD, "eviction policy", found)
    else:
        yield Finding(
            WARN, "eviction policy", found,
            "CONFIG SET maxmemory-policy noeviction: evicted leases let two ticks run at once",
        )  # fmt: skip


def _limits(_: Store, settings: Settings) -> Iterator[Finding]:
    """Wrong order refuses to start, so what is left to say is what they are."""
    order = (settings.tick_budget_s, settings.tick_soft_limit_s, settings.tick_hard_limit_s, settings.lease_s,
             settings.visibility_timeout_s)  # fmt: skip
    yield Finding(GOOD, "limits", " < ".join(f"{each:g}" for each in order) + " s (budget to visibility)")


def _shards(store: Store, settings: Settings) -> Iterator[Finding]:
    """With fewer shards than this the others' ticks look like any other, so only more of them can be told."""
    since = clock.now() - SHARDS_SEEN_S * clock.SECOND
    beyond = store.rows(sql("doctor.shards_beyond"), shards=settings.shards, every=EVERY_SHARD, since=since)[
        0
    ][0]
    if beyond:
        yield Finding(
            WARN, "shards", f"LOOM_SHARDS is {settings.shards} here, and shard {beyond} was worked on within the hour",
            "set LOOM_SHARDS alike wherever a server, a worker or beat runs, and restart those that differ",
        )  # fmt: skip
    else:
        yield Finding(GOOD, "shards", f"{settings.shards}, and none beyond was worked on lately")


def _provider(_: Store, settings: Settings) -> Iterator[Finding]:
    if settings.llm_provider == "fake":
        yield Finding(
            WARN, "extractor", "LOOM_LLM_PROVIDER=fake: rows without entities stay untagged",
            "set spacy (local) or litellm where the workers run",
        )  # fmt: skip
    elif settings.llm_provider == "litellm" and settings.llm_model is None:
        yield Finding(
            BAD, "extractor", "litellm without a model", "set LOOM_LLM_MODEL, e.g. openai/gpt-4o-mini"
        )
    else:
        yield Finding(GOOD, "extractor", settings.llm_model or settings.llm_provider)


def _silent_s(last_run: datetime | None) -> float | None:
    return None if last_run is None else (clock.now() - clock.micros(last_run)) / clock.SECOND


def _fleet(store: Store, settings: Settings) -> Iterator[Finding]:
    for each in snapshot(store, settings):
        interval = getattr(settings, GATES[each.worker].replace("_enabled", "_interval_s"))
        if not gate_is_on(settings, each.worker):
            yield Finding(GOOD, each.worker, f"off (LOOM_{GATES[each.worker].upper()})")
        elif each.oldest_age_s and each.oldest_age_s > LATE_INTERVALS * interval:
            yield Finding(
                WARN, each.worker, f"{each.backlog} waiting, the oldest for {each.oldest_age_s:.0f} s",
                "are a worker and beat running? `loom failures list` shows what failed",
            )  # fmt: skip
        elif (silent_s := _silent_s(each.last_run)) is None or silent_s > LATE_INTERVALS * interval:
            said = "has never run" if silent_s is None else f"last ran {silent_s:.0f} s ago"
            yield Finding(
                WARN,
                each.worker,
                f"{said}, and is to run every {interval} s",
                "start, or start anew, a worker and beat",
            )
        else:
            yield Finding(GOOD, each.worker, f"{each.backlog} waiting")
        if dead := each.failures.get("dead"):
            yield Finding(
                WARN, each.worker, f"{dead} dead",
                "`loom failures list --state dead`; mend the cause, then `loom failures requeue --all-dead`",
            )  # fmt: skip
