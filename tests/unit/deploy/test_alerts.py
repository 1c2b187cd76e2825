"""Alerts and board speak of metrics that exist; each alert has its page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest

from loom_core.server import fleet_gauges
from loom_core.server.metrics import Metrics
from loom_core.settings import Settings
from tests.unit.deploy.files import DEPLOY, RUNBOOKS
from workers import wake

RULES: list[dict[str, Any]] = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())["groups"][0][
    "rules"
]
PROMTOOL = os.environ.get("PROMTOOL") or shutil.which("promtool")


class Lines:
    """A store that answers every statement with nothing, but for the one that always has a row."""

    def rows(self, statement: str, **_: Any) -> list[tuple[int, ...]]:
        return [(0,) * len(fleet_gauges.STORED)] if "entity_triples)" in statement else []


class Nothing:
    """A Redis without keys."""

    def hgetall(self, _: str) -> dict[str, str]:
        return {}

    def pipeline(self, **_: Any) -> Any:
        return self

    def exists(self, _: str) -> None: ...

    def get(self, _: str) -> None: ...

    def execute(self) -> list[None]:
        return [None] * (2 * (Settings().shards + 1))


def exported() -> set[str]:
    """Names of all metrics of the server, with the suffixes that the text format gives them."""
    settings = Settings()
    store: Any = Lines()
    client: Any = Nothing()
    families = [
        *fleet_gauges.worker_metrics(store, settings),
        *fleet_gauges.table_metrics(store, settings),
        *fleet_gauges.redis_metrics(client, settings),
        *Metrics()._registry.collect(),
        *REGISTRY.collect(),
    ]
    names = {"loom_store_up", "loom_redis_up", "loom_fleet_read_age_seconds", "up"}
    for family in families:
        suffixes = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(family.type, [""])
        names |= {family.name + suffix for suffix in suffixes}
    return names


def test_the_three_names_added_above_are_those_of_the_collector() -> None:
    text = (Path(fleet_gauges.__file__).parent / "fleet_metrics.py").read_text()
    assert set(re.findall(r'"(loom_\w+)"', text)) == {
        "loom_store_up",
        "loom_redis_up",
        "loom_fleet_read_age_seconds",
    }


def metrics_in(expression: str) -> set[str]:
    return set(re.findall(r"\b(?:loom_\w+|up)\b", re.sub(r'"[^"]*"', "", expression)))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_reads_metrics_that_exist_and_has_a_page_of_five_lines(rule: dict[str, Any]) -> None:
    assert wake.SENT is not None
    assert metrics_in(rule["expr"]) <= exported()
    page = DEPLOY.parent / rule["annotations"]["runbook"]
    assert page.stem == rule["alert"]
    assert page.read_text().startswith(f"# {rule['alert']}\n")
    assert len(re.findall(r"^- \*\*", page.read_text(), re.MULTILINE)) == 5
    assert rule["labels"]["severity"] in ("page", "ticket")


def test_every_page_belongs_to_an_alert() -> None:
    assert {page.stem for page in RUNBOOKS} == {rule["alert"] for rule in RULES}


def test_the_board_shows_every_metric_of_ours_and_no_other() -> None:
    board = json.loads((DEPLOY / "grafana" / "loom.json").read_text())
    shown = {
        name
        for panel in board["panels"]
        for target in panel.get("targets", ())
        for name in metrics_in(target["expr"])
    }
    ours = {name for name in exported() if name.startswith("loom_")}
    assert shown <= ours
    plain = {name for name in ours - shown if not name.endswith(("_bucket", "_sum", "_count"))}
    assert plain == {"loom_worker_interval_seconds"}, "an interval is for the alert, nobody watches it"


def test_every_state_of_a_failure_has_its_sample() -> None:
    store: Any = Lines()
    failures = next(
        f for f in fleet_gauges.worker_metrics(store, Settings()) if f.name == "loom_worker_failures"
    )
    assert {sample.labels["state"] for sample in failures.samples} == {"open", "resolved", "stale", "dead"}


def test_the_names_follow_the_conventions() -> None:
    for name in exported() - {"up"}:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
        assert not re.search(r"_(ms|millis|minutes|hours|kb|mb)(_|$)", name), name


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed; PROMTOOL names it")
@pytest.mark.parametrize(
    "command", [["check", "config", "prometheus.yml"], ["test", "rules", "alerts_test.yml"]], ids=" ".join
)
def test_promtool_accepts_the_rules_and_their_tests(command: list[str]) -> None:
    done = subprocess.run(
        [str(PROMTOOL), *command],
        cwd=DEPLOY / "prometheus",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_tested_to_fire_and_to_be_silent() -> None:
    tests = yaml.safe_load((DEPLOY / "prometheus" / "alerts_test.yml").read_text())["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    fired = {case["alertname"] for case in cases if "exp_alerts" in case}
    silent = {case["alertname"] for case in cases if "exp_alerts" not in case}
    assert fired == silent == {rule["alert"] for rule in RULES}


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed; PROMTOOL names it")
def test_promtool_finds_nothing_odd_in_the_fleets_metrics() -> None:
    class All:
        def collect(self) -> Any:
            settings = Settings()
            store: Any = Lines()
            client: Any = Nothing()
            yield from fleet_gauges.worker_metrics(store, settings)
            yield from fleet_gauges.table_metrics(store, settings)
            yield from fleet_gauges.redis_metrics(client, settings)

    registry = CollectorRegistry()
    registry.register(All())  # type: ignore[arg-type]
    done = subprocess.run(
        [str(PROMTOOL), "check", "metrics"],
        input=generate_latest(registry),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
