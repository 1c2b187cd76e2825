"""The files under `deploy/` and what they tell to run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
COMPOSE = ROOT / "docker-compose.yml"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
RUNBOOKS = sorted((DEPLOY / "runbooks").glob("*.md"))
YAML_FILES = sorted({COMPOSE, *DEPLOY.rglob("*.yml"), *DEPLOY.rglob("*.yaml")})


def compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())
    return content


def objects() -> list[dict[str, Any]]:
    """Every Kubernetes object."""
    return [each for file in MANIFESTS for each in yaml.safe_load_all(file.read_text()) if each]


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each pod template's owner and spec."""
    for each in objects():
        if each["kind"] in ("Deployment", "Job"):
            yield f"{each['kind']} {each['metadata']['name']}", each["spec"]["template"]["spec"]


def commands() -> Iterator[tuple[str, list[str]]]:
    """(where it stands, words) of every command of ours that these files run, probes and health checks included."""
    for name, service in compose()["services"].items():
        if service["image"].startswith("loom:"):
            yield f"compose {name}", service["command"]
            if check := service.get("healthcheck"):
                yield f"compose {name} healthcheck", check["test"][1:]
    for name, spec in pods():
        for container in spec["containers"]:
            yield name, container["args"]
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                if words := container.get(probe, {}).get("exec", {}).get("command"):
                    yield f"{name} {probe}", words
    for unit in UNITS:
        line = re.search(r"^ExecStart=/opt/loom/bin/(.*)$", unit.read_text(), re.MULTILINE)
        assert line, unit
        yield unit.name, shlex.split(line[1])
    for line in (ROOT / "Procfile").read_text().splitlines():
        name, _, command = line.partition(": ")
        yield f"Procfile {name}", shlex.split(command.replace("${PORT:-7777}", "7777"))
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    default = re.search(r"^CMD (\[.*\])$", dockerfile, re.MULTILINE)
    assert default
    yield "Dockerfile", yaml.safe_load(default[1])
