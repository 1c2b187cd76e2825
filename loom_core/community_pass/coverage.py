"""Which namespaces passes cover: "namespaces with consolidation on plus those walked in the last" days."""

from __future__ import annotations

from datetime import timedelta

from loom_core import clock
from loom_core.settings import Settings
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

MARK = "entity_communities"


def covered_scopes(store: Store, settings: Settings) -> set[Scope]:
    """Namespaces with consolidation on (off by default, D45), and those walked lately."""
    since = clock.instant(clock.now()) - timedelta(days=settings.entity_communities_walked_days)
    lines = store.rows(sql("community_pass.consolidated"))
    lines += store.rows(sql("community_pass.walked"), since=since.date().isoformat())
    return {Scope(org, namespace) for org, namespace in lines}


def due_scopes(store: Store, settings: Settings) -> set[Scope]:
    """Covered namespaces not looked at in the last half interval, so that two beats make one pass."""
    since = clock.now() - settings.entity_communities_interval_s * clock.SECOND // 2
    lines = store.rows(sql("community_pass.looked_at"), worker=MARK, since=since)
    return covered_scopes(store, settings) - {Scope(org, namespace) for org, namespace in lines}


def mark_looked_at(store: Store, scope: Scope) -> None:
    """Writes down that the namespace was looked at now, whether or not that made a pass."""
    now = clock.now()
    store.insert(
        "work_marks",
        ("org", "namespace", "worker", "mark", "ver"),
        [[scope.org, scope.namespace, MARK, now, now]],
    )
