"""Queries that end early: killed, left by their reader, or cut short by the end of the owner."""

import signal
import socket
import threading
import time
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError

from tests.integration.embedded.conftest import connect
from tests.support.servers import ServerProcess, clickhouse_owner, wait_until

ENDLESS = "SELECT sum(sleepEachRow(0.01)) FROM numbers(100000) SETTINGS max_block_size = 1"


def running(client: Client) -> int:
    return int(
        client.command("SELECT count() FROM system.processes WHERE query LIKE 'SELECT sum(sleepEachRow%'")
    )


def test_a_query_is_killed_by_its_id(owner: ServerProcess, client: Client) -> None:
    codes: list[int | None] = []

    def read() -> None:
        with pytest.raises(DatabaseError) as caught:
            connect(owner).query(ENDLESS, settings={"query_id": "mine-1"})
        codes.append(caught.value.code)

    reader = threading.Thread(target=read)
    reader.start()
    wait_until(lambda: running(client) == 1, "the query runs")
    client.command("KILL QUERY WHERE query_id = 'another'")
    assert running(client) == 1
    client.command("KILL QUERY WHERE query_id = 'mine-1' SYNC")
    reader.join(10)
    assert codes == [394]


def test_an_id_runs_once_at_a_time(owner: ServerProcess, client: Client) -> None:
    sleeper = threading.Thread(
        target=lambda: connect(owner).query("SELECT sleep(1)", settings={"query_id": "twice"})
    )
    sleeper.start()
    wait_until(
        lambda: (
            client.command("SELECT count() FROM system.processes WHERE query LIKE 'SELECT sleep(1)%'") == 1
        ),
        "it runs",
    )
    with pytest.raises(DatabaseError) as caught:
        client.query("SELECT 1", settings={"query_id": "twice"})
    sleeper.join()
    assert caught.value.code == 216


def test_a_read_ends_when_its_reader_leaves(owner: ServerProcess, client: Client) -> None:
    with socket.create_connection(("127.0.0.1", owner.port)) as peer:
        body = ENDLESS.encode()
        peer.sendall(
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        )
        wait_until(lambda: running(client) == 1, "the query runs")
    wait_until(lambda: running(client) == 0, "the query is gone", 5)


def test_sigterm_lets_a_running_query_end(folder: Path) -> None:
    with clickhouse_owner(folder) as owner:
        client, other = connect(owner), connect(owner)
        answers: list[object] = []
        reader = threading.Thread(target=lambda: answers.append(client.command("SELECT sleep(2.5)")))
        reader.start()
        wait_until(
            lambda: (
                other.command("SELECT count() FROM system.processes WHERE query LIKE 'SELECT sleep(2.5)%'")
                == 1
            ),
            "it runs",
        )
        assert owner.stop() == 0
        reader.join()
        assert answers == [0]


def test_sigterm_ends_an_endless_query_in_bounded_time(folder: Path) -> None:
    with clickhouse_owner(folder) as owner:
        codes: list[int | None] = []

        def read() -> None:
            with pytest.raises(DatabaseError) as caught:
                connect(owner).query(ENDLESS)
            codes.append(caught.value.code)

        reader = threading.Thread(target=read)
        reader.start()
        client = connect(owner)
        wait_until(lambda: running(client) == 1, "the query runs")
        started = time.monotonic()
        assert owner.stop() == 0
        assert time.monotonic() - started < 18
        reader.join()
        assert codes == [394]


def test_a_second_sigterm_changes_nothing(folder: Path) -> None:
    with clickhouse_owner(folder) as owner:
        owner.process.send_signal(signal.SIGTERM)
        assert owner.stop() == 0
