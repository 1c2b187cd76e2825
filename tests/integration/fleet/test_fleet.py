"""Real workers and beats on real stores: what is written is tagged and mended, whoever dies meanwhile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.fleet import Fleet
from tests.support.fleet_fixtures import bulk, settled, tagged
from tests.support.llm_stub import LLMStub, naming, with_llm
from tests.support.servers import wait_until
from tests.support.world import World, fault
from workers.app import build_app
from workers.registry import WORKERS
from workers.wake import make_wake

pytestmark = pytest.mark.fleet

HEAVY = ("spacy", "litellm", "numba", "chdb", "pandas", "pyarrow")


def runs(world: World, worker: str) -> list[dict[str, object]]:
    return world.store.dicts(
        "SELECT * FROM loom.worker_runs FINAL WHERE worker = {worker:String}", worker=worker
    )


def test_rows_without_entities_are_read_and_the_graph_has_them(fleet: Fleet, town: World) -> None:
    """With spaCy: no key, no stub."""
    fleet.environment["LOOM_LLM_PROVIDER"] = "spacy"
    town.set_many(
        {"memory_key": "k", "value": "The billing service reads invoices from the ledger database."}
    )
    fleet.worker()
    fleet.beat()
    wait_until(lambda: bool(town.related("billing service")), "the row is tagged")
    assert "ledger database" in town.related("billing service")
    wait_until(lambda: settled(town), "nothing waits")
    town.verified()


def test_a_failed_projection_is_mended_by_the_fleet(
    fleet: Fleet, town: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fault(monkeypatch, "edges:insert:raise"):
        town.set("k", "text", E=["alpha service", "beta service"])
    with fault(monkeypatch, "closes:insert:raise"):
        town.set("home", "text", E=[], R=[["user", "live_in", "london"]])
    fleet.worker()
    fleet.beat()
    wait_until(lambda: set(town.failures().values()) == {"resolved"}, "both are resolved")
    assert town.related("alpha service") == {"beta service": 1}
    assert town.objects() == {"london": 1}
    wait_until(lambda: settled(town), "nothing waits")
    town.verified()


def test_a_flood_of_texts_does_not_keep_a_failed_projection_waiting(
    fleet: Fleet, town: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process for all workers: each of its ticks outlasts the beat's interval."""
    with LLMStub(default=naming, latency_s=0.5) as stub:
        with_llm(fleet.environment, stub)
        fleet.environment |= {
            "LOOM_ENTITY_EXTRACT_BATCH": "4", "LOOM_ENTITY_EXTRACT_CONCURRENCY": "1", "LOOM_TICK_BUDGET_S": "8",
            "LOOM_ENTITY_EXTRACT_TIMEOUT_S": "5", "LOOM_SHARDS": "4",
        }  # fmt: skip
        floods = [World(town.store, town.settings) for _ in range(8)]
        for flood in floods:
            bulk(flood, 200)
        fleet.worker()
        fleet.beat()
        wait_until(lambda: len(stub.requests) >= 2, "texts are read")
        with fault(monkeypatch, "edges:insert:raise"):
            town.set("k", "text", E=["alpha service", "beta service"])
        wait_until(lambda: town.failures() == {("k", "edges"): "resolved"}, "it is mended", 90)
        assert sum(tagged(flood) for flood in floods) < 1600


def test_a_wake_up_is_enough_without_any_beat(fleet: Fleet, town: World) -> None:
    fleet.environment["LOOM_LLM_PROVIDER"] = "spacy"
    fleet.worker()
    bulk(town, 3)
    from loom_core.coordination.shards import shard_of

    make_wake(fleet.settings())("entity_extractor", shard_of(town.scope, fleet.settings().shards))
    wait_until(lambda: tagged(town) == 3, "the rows are tagged")


def test_a_worker_whose_gate_is_off_touches_nothing(fleet: Fleet, town: World) -> None:
    bulk(town, 2)
    worker = fleet.worker(LOOM_LLM_PROVIDER="spacy", **{spec.gate_variable: "false" for spec in WORKERS})
    town.store.command("TRUNCATE TABLE loom.worker_runs")
    app = build_app(fleet.settings())
    for spec in WORKERS:
        app.send_task(spec.task)
        app.send_task(spec.task, kwargs={"shard": 1})
    wait_until(lambda: worker.text.count("{'status': 'disabled'}") == 2 * len(WORKERS), "all are answered")
    assert town.store.rows("SELECT count() FROM loom.worker_runs") == [(0,)]
    assert tagged(town) == 0
    assert fleet.client().keys("loom:*") == []


def test_what_others_put_on_the_queues_is_refused_and_the_worker_lives(fleet: Fleet, town: World) -> None:
    worker = fleet.worker()
    children = worker.children()
    client, app = fleet.client(), build_app(fleet.settings())
    queue = "projection_retry"
    client.lpush(queue, "not even JSON")
    client.lpush(queue, "{}")
    client.lpush(queue, json.dumps({"body": "!!!", "headers": {}, "properties": {}}))
    pickled = "gASVLwAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOUjBR0b3VjaCAvdG1wL2xvb20tb3duZWSUhZRSlC4="
    client.lpush(queue, _message(pickled, "application/x-python-serialize", "workers.projection_retry.sweep"))
    client.lpush(queue, _message("bm90IGpzb24=", "application/json", "workers.projection_retry.sweep"))
    client.lpush(queue, _message("W10=", "application/json", "no.such.task"))
    client.lpush(queue, _message("W1tdLCB7fSwge31d", "application/json", "celery.backend_cleanup"))
    app.send_task("workers.projection_retry.sweep", args=[1, 2, 3])
    app.send_task("workers.projection_retry.sweep", kwargs={"shard": {"$gt": ""}})
    app.send_task("workers.projection_retry.sweep", kwargs={"shard": 10**30})
    app.send_task("workers.projection_retry.sweep", kwargs={"code": "import os"})
    town.store.command("TRUNCATE TABLE loom.worker_runs")
    app.send_task("workers.projection_retry.sweep")
    wait_until(lambda: bool(runs(town, "projection_retry")), "the good message is answered")
    assert worker.process.poll() is None
    assert worker.children() == children
    assert worker.text.count("{'status': 'refused'}") == 2
    assert not Path("/tmp/loom-owned").exists()


def _message(body: str, content_type: str, task: str) -> str:
    headers = {"task": task, "id": "1", "lang": "py", "argsrepr": "()", "kwargsrepr": "{}"}
    properties = {
        "correlation_id": "1", "reply_to": "", "delivery_mode": 2, "delivery_info": {"exchange": "", "routing_key": ""},
        "priority": 0, "body_encoding": "base64", "delivery_tag": "1",
    }  # fmt: skip
    return json.dumps(
        {"body": body, "content-encoding": "utf-8", "content-type": content_type, "headers": headers,
         "properties": properties}
    )  # fmt: skip


def test_an_idle_worker_is_small_and_imports_nothing_it_does_not_use(fleet: Fleet, town: World) -> None:
    worker = fleet.worker(concurrency=2)
    fleet.beat()
    town.store.command("TRUNCATE TABLE loom.worker_runs")
    wait_until(lambda: worker.text.count("succeeded") >= 8, "some ticks have passed")
    for pid in [worker.process.pid, *worker.children()]:
        libraries = Path(f"/proc/{pid}/maps").read_text()
        assert not [name for name in HEAVY if f"/site-packages/{name}" in libraries]
        assert _resident_mib(pid) < 150


def _resident_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024
