"""The deployment files are well-formed and hold to what keeps a cluster safe."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.deploy.files import DEPLOY, ROOT, UNITS, YAML_FILES, compose, objects, pods

PODS = [pytest.param(spec, id=name) for name, spec in pods()]
PINNED = re.compile(r"^[a-z./-]+:v?\d+\.\d+\.\d[\w.-]*$")


@pytest.mark.parametrize("file", YAML_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_yaml_file_parses(file: Path) -> None:
    assert all(list(yaml.safe_load_all(file.read_text())))


def test_every_image_is_pinned_to_a_version() -> None:
    images = {service["image"] for service in compose()["services"].values()}
    images |= {container["image"] for _, spec in pods() for container in spec["containers"]}
    images |= set(re.findall(r"^FROM (\S+)", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE))
    assert len(images) >= 5
    assert [image for image in images if not PINNED.match(image)] == []


def test_the_image_has_the_version_of_the_package() -> None:
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version
    images = {c["image"] for _, spec in pods() for c in spec["containers"]} | {
        service["image"] for service in compose()["services"].values() if service["image"].startswith("loom")
    }
    assert images == {f"loom:{version[1]}"}


@pytest.mark.parametrize("spec", PODS)
def test_a_pod_runs_without_privileges(spec: dict[str, Any]) -> None:
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in spec["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"cpu", "memory"} <= set(container["resources"]["requests"])
        assert "memory" in container["resources"]["limits"]


def test_what_runs_on_is_probed_and_its_disruption_bounded() -> None:
    budgets = {
        frozenset(each["spec"]["selector"]["matchLabels"].items())
        for each in objects()
        if each["kind"] == "PodDisruptionBudget"
    }
    deployments = [each for each in objects() if each["kind"] == "Deployment"]
    assert len(deployments) == 6
    for each in deployments:
        container = each["spec"]["template"]["spec"]["containers"][0]
        assert {"startupProbe", "livenessProbe"} <= set(container), each["metadata"]["name"]
        assert frozenset(each["spec"]["selector"]["matchLabels"].items()) in budgets, each["metadata"]["name"]
    server = next(each for each in deployments if each["metadata"]["name"] == "loom-server")
    probes = server["spec"]["template"]["spec"]["containers"][0]
    assert probes["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert probes["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_there_is_one_beat_and_never_two_during_a_rollout() -> None:
    beat = next(
        each for each in objects() if each["metadata"]["name"] == "loom-beat" and "strategy" in each["spec"]
    )
    assert (beat["spec"]["replicas"], beat["spec"]["strategy"]) == (1, {"type": "Recreate"})


def test_no_secret_stands_in_a_manifest() -> None:
    assert not [each for each in objects() if each["kind"] == "Secret"]
    for _, spec in pods():
        for variable in spec["containers"][0].get("env", ()):
            assert "secretKeyRef" in variable["valueFrom"], variable["name"]


def test_every_pod_is_under_the_network_policy() -> None:
    policies = [each for each in objects() if each["kind"] == "NetworkPolicy"]
    everything = {"app.kubernetes.io/name": "loom"}
    assert any(
        each["spec"]["podSelector"]["matchLabels"] == everything
        and set(each["spec"]["policyTypes"]) == {"Ingress", "Egress"}
        for each in policies
    )
    for each in objects():
        if each["kind"] in ("Deployment", "Job"):
            assert everything.items() <= each["spec"]["template"]["metadata"]["labels"].items()


def test_the_schema_is_changed_by_its_own_user_alone() -> None:
    users = ElementTree.parse(DEPLOY / "clickhouse" / "users.xml").getroot().find("users")
    assert users is not None
    grants = {user.tag: [query.text for query in user.iter("query")] for user in users}
    assert grants["loom"] == [
        "GRANT SELECT, INSERT, ALTER DELETE ON loom.*",
        "GRANT ALTER UPDATE(dropped) ON loom.community_passes",
    ]
    assert grants["loom_reader"] == ["GRANT SELECT ON loom.*"]
    assert users.find("default").get("remove") == "1"  # type: ignore[union-attr]
    assert not [user.tag for user in users if user.tag != "default" and user.find("password") is None]


def test_the_fleet_runs_no_statement_that_its_user_may_not() -> None:
    """Each in `queries/` is SELECT, INSERT … SELECT, DELETE FROM, ALTER … DELETE, or the one UPDATE granted."""
    allowed = re.compile(
        r"(SELECT|WITH|INSERT INTO|DELETE FROM|ALTER TABLE \S+( ON CLUSTER \S+)? DELETE"
        r"|ALTER TABLE loom\.community_passes UPDATE dropped =)\s"
    )
    queries = sorted((ROOT / "loom_core" / "storage" / "queries").glob("*.sql"))
    blocks = [
        (file.name, block)
        for file in queries
        for block in re.split(r"^-- \w+ --$", file.read_text(), flags=re.M)
    ]
    statements = [(name, _without_comments(block)) for name, block in blocks]
    assert len(statements) > 50
    assert [(name, text[:60]) for name, text in statements if text and not allowed.match(text)] == []


def _without_comments(block: str) -> str:
    block = re.sub(r"/\*.*?\*/", "", block, flags=re.DOTALL)
    lines = [line for line in block.splitlines() if not line.lstrip().startswith("--")]
    return " ".join(" ".join(lines).split()).lstrip("( ")


def test_the_board_is_json_with_panels_of_its_own_place() -> None:
    panels = json.loads((DEPLOY / "grafana" / "loom.json").read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]
    assert len(set(places)) == len(places)


def test_no_package_index_is_named() -> None:
    assert not re.search(r"index-url|https?://", (DEPLOY / "Dockerfile").read_text())


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    for unit in UNITS:
        (tmp_path / unit.name).write_text(unit.read_text().replace("/opt/loom/bin/", "/bin/false "))
    done = subprocess.run(
        ["systemd-analyze", "verify", *sorted(str(path) for path in tmp_path.iterdir())],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    complaints = [line for line in done.stderr.splitlines() if "loom" in line]
    assert complaints == []
