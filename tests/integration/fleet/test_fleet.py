"""Real workers and beats on real stores: what is written is tagged and mended, whoever dies meanwhile."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loom_core.projection import failures
from tests.support.fleet import Fleet, FleetProcess
from tests.support.fleet_fixtures import settled
from tests.support.llm_stub import LLMStub, Reply
from tests.support.servers import redis_server, wait_until
from tests.support.world import World, fault
from workers.app import build_app
from workers.registry import WORKERS
from workers.wake import make_wake

pytestmark = pytest.mark.fleet

HEAVY = ("spacy", "litellm", "numba", "chdb", "pandas", "pyarrow")


def named(text: str) -> Reply:
    """The words before and after `uses` are entities."""
    first, _, second = text.partition(" uses ")
    entities = [{"name": first, "type": "thing"}, {"name": second, "type": "thing"}]
    return Reply(json.dumps({"entities": entities, "relations": [], "facts": []}))


def with_llm(fleet: Fleet, stub: LLMStub) -> None:
    fleet.environment |= {
        "LOOM_LLM_PROVIDER": "litellm",
        "LOOM_LLM_MODEL": "openai/stub",
        "LOOM_LLM_API_BASE": stub.url,
    }


def bulk(world: World, count: int, prefix: str = "k") -> None:
    entries = [{"memory_key": f"{prefix}{n}", "value": f"alpha {n} uses hub service"} for n in range(count)]
    world.set_many(*entries)


def tagged(world: World) -> int:
    return world.count("memory_extractions")


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


def test_a_worker_killed_in_the_middle_loses_no_row_and_weighs_none_twice(fleet: Fleet, town: World) -> None:
    """B65. It hangs in a later batch, so that the kill finds it in the middle however fast it is."""
    fleet.environment |= {"LOOM_LLM_PROVIDER": "spacy", "LOOM_ENTITY_EXTRACT_BATCH": "4"}
    bulk(town, 20)
    worker = fleet.worker(LOOM_TESTING="1", LOOM_FAULT="entity_extractor:answer:hang@k15")
    fleet.beat()
    wait_until(lambda: tagged(town) >= 4, "a batch is tagged")
    worker.kill()
    assert tagged(town) < 20
    fleet.worker()
    wait_until(lambda: len(town.related("hub service", top_k=100)) == 20, "all rows are in the graph")
    wait_until(lambda: settled(town), "nothing waits")
    assert set(town.related("hub service", top_k=100).values()) == {1}
    assert town.degrees()["hub service"] == 20
    town.verified()


@pytest.mark.parametrize("action", ["exit", "hang"])
def test_a_row_that_kills_or_stops_its_process_dies_alone(fleet: Fleet, town: World, action: str) -> None:
    """Invariant 6: attempts are counted before the attempt."""
    if action == "hang":
        fleet.environment |= {
            "LOOM_TICK_BUDGET_S": "2", "LOOM_ENTITY_EXTRACT_TIMEOUT_S": "2", "LOOM_TICK_SOFT_LIMIT_S": "4",
            "LOOM_TICK_HARD_LIMIT_S": "60", "LOOM_LEASE_S": "61", "LOOM_VISIBILITY_TIMEOUT_S": "120",
        }  # fmt: skip
    fleet.environment |= {
        "LOOM_LLM_PROVIDER": "spacy",
        "LOOM_ENTITY_EXTRACT_MAX_ATTEMPTS": "3",
        "LOOM_TESTING": "1",
        "LOOM_FAULT": f"entity_extractor:attempt:{action}@k3",
    }
    bulk(town, 8)
    worker = fleet.worker()
    fleet.beat()
    wait_until(lambda: bool(failures.listed(town.store, town.scope, [failures.DEAD])), "the row is dead", 120)
    wait_until(lambda: tagged(town) == 7, "its neighbours are tagged")
    (dead,) = failures.listed(town.store, town.scope, [failures.DEAD])
    assert (dead.memory_key, dead.attempts, dead.error_class) == ("k3", 3, "WorkerLost")
    assert worker.process.poll() is None, "the worker outlives its pool's processes"
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
    with LLMStub(default=named, latency_s=0.5) as stub:
        with_llm(fleet, stub)
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


def test_two_beats_and_two_workers_weigh_nothing_twice(fleet: Fleet, town: World) -> None:
    fleet.environment |= {"LOOM_LLM_PROVIDER": "spacy", "LOOM_ENTITY_EXTRACT_BATCH": "16"}
    bulk(town, 60)
    for _ in range(2):
        fleet.beat()
        fleet.worker("--hostname", f"{os.urandom(4).hex()}@%h")
    app = build_app(fleet.settings())
    for _ in range(50):
        app.send_task("workers.entity_extractor.sweep")
    wait_until(lambda: tagged(town) == 60, "all rows are tagged", 120)
    wait_until(lambda: len(town.related("hub service", top_k=200)) == 60, "all rows are in the graph")
    assert set(town.related("hub service", top_k=200).values()) == {1}
    assert town.failures() == {}
    wait_until(lambda: settled(town), "nothing waits")
    town.verified()


def test_a_holder_that_is_paused_past_its_lease_and_goes_on_harms_nothing(fleet: Fleet, town: World) -> None:
    """Invariant 9."""
    fleet.environment |= {"LOOM_LLM_PROVIDER": "spacy", "LOOM_ENTITY_EXTRACT_BATCH": "4"}
    bulk(town, 40)
    paused = fleet.worker("--hostname", "paused@%h")
    fleet.beat()
    wait_until(lambda: tagged(town) >= 4, "it works")
    (child,) = paused.children()
    os.kill(child, signal.SIGSTOP)
    assert tagged(town) < 40
    # As if the lease had run out: nobody renews it.
    for key in fleet.client().keys("loom:lease:*"):
        fleet.client().delete(key)
    fleet.worker("--hostname", "heir@%h")
    wait_until(lambda: tagged(town) == 40, "the heir has read all rows", 150)
    os.kill(child, signal.SIGCONT)
    wait_until(lambda: "lease_lost" in paused.text or "succeeded" in paused.text, "the paused tick ends")
    wait_until(lambda: settled(town), "nothing waits")
    related = town.related("hub service", top_k=100)
    assert len(related) == 40
    assert set(related.values()) == {1}
    town.verified()


def test_losing_all_of_redis_costs_a_delay_only(fleet: Fleet, town: World) -> None:
    """Invariant 5."""
    fleet.environment["LOOM_LLM_PROVIDER"] = "spacy"
    bulk(town, 3)
    wake = make_wake(fleet.settings())
    for spec in WORKERS:
        wake(spec.name, 0)
    fleet.client().flushall()
    fleet.worker()
    fleet.beat()
    wait_until(lambda: tagged(town) == 3, "the rows are tagged")
    fleet.client().flushall()
    bulk(town, 3, "more")
    wait_until(lambda: tagged(town) == 6, "later rows too")


def test_stores_that_go_and_come_back_find_the_fleet_alive(tmp_path: Path, fleet: Fleet, town: World) -> None:
    """Redis restarts under worker and beat; neither has to be started again."""
    fleet.environment["LOOM_LLM_PROVIDER"] = "spacy"
    with redis_server(tmp_path / "redis") as own:
        address = {"LOOM_REDIS_URL": f"{own.url}/0"}
        worker, beat = fleet.worker(**address), fleet.beat(**address)
        bulk(town, 2)
        wait_until(lambda: tagged(town) == 2, "the rows are tagged")
        own.kill()
        bulk(town, 2, "while away")
        time.sleep(3)  # long enough for both to notice
        again = _on_port(own.port, tmp_path / "redis")
        try:
            wait_until(lambda: tagged(town) == 4, "the rows are tagged by the same processes", 90)
        finally:
            again.kill()
            again.wait()
    assert worker.process.poll() is None
    assert beat.process.poll() is None


def _on_port(port: int, folder: Path):  # type: ignore[no-untyped-def]
    import subprocess

    from loom_core.embedded import redis

    return subprocess.Popen(
        redis.server_command(redis.find_server(), folder, port),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


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


@pytest.mark.parametrize(
    "remapped", [pytest.param(False, id="warm"), pytest.param(True, id="soft", marks=pytest.mark.nightly)]
)
def test_a_worker_that_is_told_to_stop_finishes_its_batch_and_reports_it(
    fleet: Fleet, town: World, remapped: bool
) -> None:
    with LLMStub(default=named, latency_s=0.3) as stub:
        with_llm(fleet, stub)
        fleet.environment |= {"LOOM_ENTITY_EXTRACT_BATCH": "4", "LOOM_ENTITY_EXTRACT_CONCURRENCY": "2"}
        bulk(town, 200)
        worker = fleet.worker(**({"REMAP_SIGTERM": "SIGQUIT"} if remapped else {}))
        fleet.beat()
        wait_until(lambda: tagged(town) >= 4, "it works")
        children = worker.children()
        began = time.monotonic()
        assert worker.stop() == 0
        assert time.monotonic() - began < 25
    assert all(not Path(f"/proc/{pid}").exists() for pid in children)
    unreported = town.store.rows(
        "SELECT count() FROM loom.projection_attempts FINAL WHERE org = {org:String} "
        "AND namespace = {namespace:String} AND outcome = ''",
        **town.names,
    )
    assert unreported == [(0,)]
    assert 4 <= tagged(town) < 200


def test_a_beat_that_starts_anew_every_few_seconds_starves_nobody(fleet: Fleet, town: World) -> None:
    """Nothing that a beat has to keep: what is due stands in the tables."""
    worker = fleet.worker()
    seen: Callable[[], int] = lambda: worker.text.count("workers.supersession_replay.sweep")  # noqa: E731
    for _ in range(3):
        before = seen()
        beat: FleetProcess = fleet.beat(LOOM_SUPERSESSION_REPLAY_INTERVAL_S="3600")
        wait_until(lambda before=before: seen() > before, "it sweeps at once")
        assert beat.stop() == 0
