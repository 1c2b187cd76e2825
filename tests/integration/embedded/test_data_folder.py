"""The data folder: one owner at a time, and nothing acknowledged is lost with it."""

import subprocess
import sys
import threading
from pathlib import Path

import redis
from clickhouse_connect.driver.exceptions import ClickHouseError

from tests.integration.embedded.conftest import connect
from tests.support.servers import clickhouse_owner, free_port, redis_server, wait_until


def test_a_second_owner_is_refused_and_told_who_the_first_is(folder: Path) -> None:
    with clickhouse_owner(folder) as owner:
        command = [
            sys.executable,
            "-m",
            "loom_core.embedded.clickhouse",
            "--path",
            str(folder),
            "--port",
            "0",
        ]
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert second.returncode == 1
        assert "data folder owned by another running process" in second.stderr
        assert f"pid {owner.process.pid}" in second.stderr
        assert connect(owner).command("SELECT 1") == 1


def test_a_folder_that_an_engine_in_another_process_has_open_is_refused(folder: Path) -> None:
    script = "import sys, chdb\nc = chdb.connect(sys.argv[1])\nprint('open', flush=True)\nsys.stdin.read()"
    command = [sys.executable, "-c", script, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        owner = [sys.executable, "-m", "loom_core.embedded.clickhouse", "--path", str(folder), "--port", "0"]
        second = subprocess.run(owner, capture_output=True, text=True, timeout=60, check=False)
        assert second.returncode == 1
        assert f"pid {other.pid}" in second.stderr
        other.communicate("")


def test_an_owner_takes_over_after_kill_9_and_finds_every_acknowledged_row(folder: Path) -> None:
    with clickhouse_owner(folder) as owner:
        client = connect(owner)
        client.command("CREATE TABLE t (v UInt64) ENGINE = MergeTree ORDER BY v")
        acknowledged: list[int] = []

        def write() -> None:
            try:
                for v in range(100_000):
                    client.insert("t", [[v]], column_names=["v"], column_type_names=["UInt64"])
                    acknowledged.append(v)
            except ClickHouseError:
                return

        writer = threading.Thread(target=write)
        writer.start()
        wait_until(lambda: len(acknowledged) >= 100, "a hundred rows are acknowledged")
        owner.kill()
        writer.join()
    with clickhouse_owner(folder) as owner:
        rows = {v for (v,) in connect(owner).query("SELECT v FROM t").result_rows}
        assert set(acknowledged) <= rows
        assert len(rows) <= len(acknowledged) + 1


def test_a_port_in_use_is_named(folder: Path) -> None:
    with clickhouse_owner(folder) as owner:
        command = [sys.executable, "-m", "loom_core.embedded.clickhouse", "--path", f"{folder}-2"]
        second = subprocess.run(
            [*command, "--port", str(owner.port)], capture_output=True, text=True, timeout=60, check=False
        )
        assert second.returncode == 1
        assert str(owner.port) in second.stderr


def test_an_address_that_others_can_reach_is_refused(folder: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "loom_core.embedded.clickhouse",
        "--path",
        str(folder),
        "--host",
        "0.0.0.0",
    ]
    refused = subprocess.run(
        [*command, "--port", str(free_port())], capture_output=True, text=True, timeout=60, check=False
    )
    assert refused.returncode == 2
    assert "loopback" in refused.stderr


def test_redis_keeps_its_data_over_a_restart_and_answers_on_loopback_only(tmp_path: Path) -> None:
    with redis_server(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url)
        client.set("k", "v")
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert client.config_get("bind") == {"bind": "127.0.0.1"}
        client.close()
        assert server.stop() == 0
    with redis_server(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url, decode_responses=True)
        assert client.get("k") == "v"
        client.close()
