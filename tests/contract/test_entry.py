"""The server as a process: what it refuses to start with, and how it stops."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from loom_core.server import __main__ as entry
from loom_core.server.http import is_loopback
from loom_core.settings import get_settings

ROOT = Path(__file__).resolve().parents[2]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, **environment: str) -> int:
    """`main` in this process, for what it refuses before it serves."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["loom_core.server", *arguments])
    monkeypatch.setattr(entry, "configure", lambda _: None)  # this process's log is the test run's
    get_settings.cache_clear()
    before = signal.getsignal(signal.SIGTERM)
    try:
        return entry.main()
    finally:
        signal.signal(signal.SIGTERM, before)
        get_settings.cache_clear()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_without_a_secret_it_does_not_open_to_the_network(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    assert run(monkeypatch, "--host", host) == 1
    assert "LOOM_AUTH_SECRET" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"LOOM_AUTH_SECRET": "my short secret"}, "32 bytes"),
        ({"LOOM_RATE_LIMIT_PER_MINUTE": "many"}, "LOOM_RATE_LIMIT_PER_MINUTE"),
        ({"LOOM_LEASE_S": "1", "LOOM_AUTH_SECRET": "my short secret"}, "LOOM_LEASE_S"),
        ({}, "LOOM_CLICKHOUSE_URL"),
    ],
)
def test_a_configuration_that_does_not_stand_is_named_without_its_secrets(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    environment: dict[str, str],
    named: str,
) -> None:
    if environment:
        environment = {"LOOM_CLICKHOUSE_URL": "http://127.0.0.1:9"} | environment
    assert run(monkeypatch, **environment) == 1
    said = capsys.readouterr().err
    assert named in said
    assert "my short secret" not in said


def test_bad_usage_is_exit_code_two(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as caught:
        run(monkeypatch, "--port", "many")
    assert caught.value.code == 2


def test_sigterm_ends_it_cleanly(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "loom_core.server", "--port", str(port)],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "LOOM_CLICKHOUSE_URL": f"chdb://{tmp_path}/ch"},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                assert httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
                break
            except httpx.TransportError:
                assert process.poll() is None and time.monotonic() < deadline, "it did not start"
                time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 0
        assert "Traceback" not in said
    finally:
        if process.poll() is None:
            process.kill()


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("LOCALHOST", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("localhost.example.org", False),
        ("", False),
    ],
)
def test_only_this_machine_is_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
