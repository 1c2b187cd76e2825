"""Numbered migrations, applied once each and in order; safe to run twice and by two processes at once.

Every statement is idempotent (`IF NOT EXISTS`), so two migrators at once do the same thing twice; the log is a set.
A migration is never edited once released: a change is a new file, and old workers must be able to run beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources

from loom_core.settings import Settings
from loom_core.storage.store import Store

DEDUPLICATION_WINDOW = 10_000
"""Inserts that a table remembers by token: a repeated insert within it counts once."""


def migrate(store: Store, settings: Settings) -> list[str]:
    """Brings the schema up to date and returns the names of the migrations that were applied now."""
    cluster = f"ON CLUSTER '{settings.clickhouse_cluster}'" if settings.clickhouse_cluster else ""
    store.command(f"CREATE DATABASE IF NOT EXISTS loom {cluster}")
    engine = "ReplicatedReplacingMergeTree" if cluster else "ReplacingMergeTree"
    store.command(
        f"CREATE TABLE IF NOT EXISTS loom.migrations {cluster} (name String, at DateTime DEFAULT now()) "
        f"ENGINE = {engine} ORDER BY name COMMENT 'Migrations that were applied.'"
    )
    done = {row[0] for row in store.rows("SELECT DISTINCT name FROM loom.migrations")}
    applied = []
    for name, text in migrations():
        if name in done:
            continue
        for statement in statements(render(text, settings)):
            store.command(statement)
        store.insert("migrations", ["name"], [[name]])
        applied.append(name)
    return applied


def pending(store: Store) -> list[str]:
    """Names of migrations that are not applied yet; all of them where there is no database."""
    exists = store.rows("SELECT count() FROM system.tables WHERE database = 'loom' AND name = 'migrations'")
    done = (
        {row[0] for row in store.rows("SELECT DISTINCT name FROM loom.migrations")} if exists[0][0] else set()
    )
    return [name for name, _ in migrations() if name not in done]


def migrations() -> Iterator[tuple[str, str]]:
    """(name, text) of every migration file, in order."""
    folder = resources.files("loom_core.storage") / "migrations"
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".sql"):
            yield entry.name.removesuffix(".sql"), entry.read_text(encoding="utf-8")


def render(text: str, settings: Settings) -> str:
    """Fills the placeholders: plain engines on one server, replicated ones on a cluster."""
    replicated = bool(settings.clickhouse_cluster)
    prefix = "Replicated" if replicated else ""
    window = "replicated_deduplication_window" if replicated else "non_replicated_deduplication_window"
    values = {
        "on_cluster": f"ON CLUSTER '{settings.clickhouse_cluster}'" if replicated else "",
        "replacing": f"{prefix}ReplacingMergeTree",
        "summing": f"{prefix}SummingMergeTree",
        "merge_tree": f"{prefix}MergeTree",
        "window": f"{window} = {DEDUPLICATION_WINDOW}",
    }
    return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], text)


def statements(text: str) -> Iterator[str]:
    """The statements of a file: they end with a semicolon at the end of a line."""
    without_comments = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    for statement in re.split(r";\s*(?:\n|$)", without_comments):
        if statement.strip():
            yield statement.strip()
