from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from loom_core.faults import POINTS
from loom_core.fleet_state import GATES
from loom_core.settings import Settings
from workers.app import build_app, configuration, schedule
from workers.registry import WORKERS, worker
from workers.transport import Transport

REDIS = {"redis_url": "redis://127.0.0.1:1/0"}


def test_the_fleet_is_the_four_workers_of_the_specification() -> None:
    assert [(spec.task, spec.gate_variable) for spec in WORKERS] == [
        ("workers.entity_extractor.sweep", "LOOM_ENTITY_EXTRACT_ENABLED"),
        ("workers.projection_retry.sweep", "LOOM_PROJECTION_RETRY_ENABLED"),
        ("workers.supersession_replay.sweep", "LOOM_SUPERSESSION_REPLAY_ENABLED"),
        ("workers.entity_communities.sweep", "LOOM_ENTITY_COMMUNITIES_ENABLED"),
    ]


def test_the_core_and_the_fleet_name_the_same_gates() -> None:
    assert {spec.name: spec.gate for spec in WORKERS} == GATES


@pytest.mark.parametrize("spec", WORKERS, ids=lambda spec: spec.name)
def test_each_worker_has_settings_a_queue_and_fault_points(spec) -> None:  # type: ignore[no-untyped-def]
    fields = Settings.model_fields
    assert spec.gate in fields and spec.interval in fields
    assert worker(spec.name) is spec
    assert any(point.startswith(f"{spec.name}:") for point in POINTS)


def test_a_gate_that_is_off_is_not_scheduled() -> None:
    assert "entity_communities" not in schedule(Settings())
    every = schedule(Settings(entity_communities_enabled=True))
    assert {name: entry["schedule"] for name, entry in every.items()} == {
        "entity_extractor": 30,
        "projection_retry": 30,
        "supersession_replay": 60,
        "entity_communities": 3600,
    }
    assert schedule(Settings(entity_extract_enabled=False)).keys() == {
        "projection_retry",
        "supersession_replay",
    }


def test_every_entry_expires_and_is_due_when_a_beat_starts() -> None:
    for entry in schedule(Settings(entity_communities_enabled=True)).values():
        assert entry["options"]["expires"] == entry["schedule"]
        assert entry["last_run_at"].year == 1970


def test_limits_reach_celery_in_the_order_that_settings_checked() -> None:
    conf = configuration(Settings(**REDIS))
    assert conf["task_soft_time_limit"] < conf["task_time_limit"] < Settings().lease_s
    assert Settings().lease_s < conf["broker_transport_options"]["visibility_timeout"]


@pytest.mark.parametrize(
    "limits",
    [
        {"tick_soft_limit_s": 400},
        {"lease_s": 300},
        {"visibility_timeout_s": 360},
        {"tick_budget_s": 300},
        {"entity_extract_timeout_s": 300},
    ],
)
def test_limits_in_another_order_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be less than"):
        Settings(**REDIS, **limits)


def test_an_app_knows_its_tasks_and_where_they_go() -> None:
    app = build_app(Settings(**REDIS))
    assert {spec.task for spec in WORKERS} <= set(app.tasks)
    assert set(app.amqp.queues) == {spec.queue for spec in WORKERS}
    for spec in WORKERS:
        assert app.amqp.router.route({}, spec.task)["queue"].name == spec.queue


def test_nothing_but_json_is_read() -> None:
    app = build_app(Settings(**REDIS))
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_ignore_result


@pytest.mark.parametrize(
    ("address", "encrypted"),
    [
        ("redis://h:1/0", False),
        ("rediss://h:1/0", {"ssl_cert_reqs": ssl.CERT_REQUIRED}),
        ("rediss://h:1/0?ssl_cert_reqs=none", {"ssl_cert_reqs": ssl.CERT_NONE}),
    ],
)
def test_an_encrypted_address_is_spoken_to_encrypted_and_its_certificate_checked(
    address: str, encrypted: object
) -> None:
    connection = build_app(Settings(redis_url=address)).connection_for_read()
    assert connection.ssl == encrypted
    assert connection.get_transport_cls() is Transport


def test_the_core_does_not_know_celery() -> None:
    root = Path(__file__).parents[3] / "loom_core"
    for path in root.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "import celery" not in text and "from celery" not in text and "from workers" not in text, path
