"""`facts.expire_by_adapter`: an extractor's triples never were; the memories stay (D28)."""

from __future__ import annotations

import json

from loom_core import clock
from loom_core.memory.rows import digest
from loom_core.projection.slots import Triple, derive_slots
from loom_core.projection.units import SEEN_SHIFT
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope


def expire(
    store: Store, scope: Scope, adapter_name: str, max_confidence: float, agent: str = ""
) -> tuple[int, int]:
    """Expires what an adapter stated by now, with a confidence strictly below the ceiling (1.0: no ceiling).

    Returns (observations removed, links from triples to source keys removed). The event lands first: a projector
    that comes later leaves such statements out, so that no retry or replay brings them back; a new write may
    state them again.
    """
    names = {"org": scope.org, "namespace": scope.namespace}
    which = {"adapter": adapter_name, "ceiling": max_confidence}
    at = clock.now()
    record_event(
        store, scope, "expire", {"adapter_name": adapter_name, "max_confidence": max_confidence}, at, agent
    )
    lines = store.rows(sql("expire.stated"), **names, **which)
    store.command(sql("expire.retract"), one_more=1 << SEEN_SHIFT, **names, **which)
    touched: set[Triple] = {(subject, relation, object_) for subject, relation, object_, _, _ in lines}
    derive_slots(store, scope, touched)
    observations = {(*line[:3], line[3]) for line in lines}
    links = {(*line[:3], line[4]) for line in lines}
    return len(observations), len(links)


def record_event(
    store: Store, scope: Scope, kind: str, payload: dict[str, object], at: int, agent: str
) -> None:
    """Lands what an operator decided for a namespace."""
    text = json.dumps(payload, sort_keys=True, ensure_ascii=False)
    store.insert(
        "namespace_events",
        ("org", "namespace", "event_id", "kind", "payload", "at", "agent"),
        [[scope.org, scope.namespace, digest("namespace", kind, str(at), text), kind, text, at, agent]],
    )
