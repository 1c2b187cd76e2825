"""The supervisor: order, restarts, and an end that leaves nothing behind."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loom.stack.find import find_stack
from loom_core.errors import Unavailable
from loom_core.settings import Settings
from tests.integration.stack.conftest import StandIn
from tests.support.servers import wait_until

Start = Callable[..., StandIn]
STACK = (
    [{"name": "store"}],
    [{"name": "server"}],
    [{"name": "worker-1", "role": "worker"}, {"name": "worker-2", "role": "worker"}, {"name": "beat"}],
)
GRANDCHILD = """
grandchild = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"])
serve()
"""
STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
ready()
while True:
    time.sleep(60)
"""


def group_is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def test_children_start_in_order_and_end_in_the_reverse_order(stand_in: Start) -> None:
    stack = stand_in(*STACK)
    stack.wait_ready()
    assert stack.stop() == 0
    events = stack.events()
    assert [event for event in events if "starts" in event][:2] == ["store starts", "server starts"]
    ends = [event.split()[0] for event in events if "ends" in event]
    assert ends[0] == "beat"
    assert set(ends[1:3]) == {"worker-1", "worker-2"}
    assert ends[3:] == ["server", "store"]
    assert stack.nothing_is_left()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_everything_grandchildren_included(stand_in: Start, number: signal.Signals) -> None:
    stack = stand_in([{"name": "worker", "code": GRANDCHILD}])
    stack.wait_ready()
    stack.process.send_signal(number)
    assert stack.wait() == 0
    assert stack.nothing_is_left()
    assert not (stack.folder / "stack.json").exists()


def test_kill_9_of_the_supervisor_ends_everything_too(stand_in: Start) -> None:
    stack = stand_in(
        [{"name": "worker", "code": GRANDCHILD}, {"name": "stubborn", "code": STUBBORN}, {"name": "server"}]
    )
    stack.wait_ready()
    stack.process.kill()
    stack.wait()
    wait_until(stack.nothing_is_left, "nothing is left", 10)
    assert "server ends" in stack.events(), "what can end by itself gets the time for it"


@pytest.mark.parametrize("delay_s", [0.05, 0.1, 0.15, 0.2, 0.3, 0.5])
def test_kill_9_while_starting_leaves_nothing(stand_in: Start, delay_s: float) -> None:
    stack = stand_in(*STACK, [{"name": "last", "code": "time.sleep(600)"}])
    time.sleep(delay_s)
    stack.process.kill()
    stack.wait()
    wait_until(stack.nothing_is_left, "nothing is left", 10)


def test_the_next_stack_waits_until_the_killed_one_is_gone(stand_in: Start) -> None:
    first = stand_in([{"name": "stubborn", "code": STUBBORN}])
    first.wait_ready()
    first.process.kill()
    first.wait()
    (first.folder / "stubborn.ready").unlink()
    second = stand_in([{"name": "stubborn"}])
    second.wait_ready()
    old, new = second.pids("stubborn")
    with pytest.raises(ProcessLookupError):
        os.kill(old, 0)
    os.kill(new, 0)
    assert second.stop() == 0


def test_a_killed_child_is_started_again_with_nothing_of_it_left(stand_in: Start) -> None:
    stack = stand_in([{"name": "worker", "code": GRANDCHILD}, {"name": "server"}])
    stack.wait_ready()
    (first,) = stack.pids("worker")
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: len(stack.pids("worker")) == 2, "it is started again", 10)
    wait_until(lambda: group_is_gone(first), "its group is gone", 5)
    second = stack.pids("worker")[1]
    wait_until(
        lambda: f'"worker": {second}' in (stack.folder / "stack.json").read_text(), "stack.json says so", 10
    )
    assert "worker was ended by SIGKILL; started again in 0.5 s" in stack.said()
    assert len(stack.pids("server")) == 1
    assert stack.stop() == 0


def test_a_child_that_ends_for_good_takes_the_stack_down_by_name(stand_in: Start) -> None:
    code = "ready(); print('what went wrong', flush=True); time.sleep(0.2); sys.exit(7)"
    stack = stand_in([{"name": "server"}], [{"name": "broken", "code": code}])
    stack.wait_ready()
    assert stack.process.wait(40) == 1
    assert len(stack.pids("broken")) == 5
    said = stack.said()
    assert "error: broken ended with exit code 7, 5 times within 60 s" in said
    assert f"{stack.folder}/logs/broken.log" in said
    assert "what went wrong" in said.partition("error:")[2]
    assert stack.events()[-1] == "server ends"
    assert not (stack.folder / "stack.json").exists()


def test_a_child_that_ends_before_it_is_ready_fails_the_start(stand_in: Start) -> None:
    stack = stand_in([{"name": "server"}], [{"name": "broken", "code": "sys.exit('no such thing')"}])
    assert stack.wait() == 1
    assert "error: broken ended with exit code 1 before it was ready" in stack.said()
    assert "no such thing" in stack.said()
    assert stack.events() == ["server starts", "server ends"]


def test_a_child_that_is_never_ready_fails_the_start(stand_in: Start) -> None:
    stack = stand_in([{"name": "slow", "code": "time.sleep(60)", "start_timeout_s": 0.5}])
    assert stack.wait() == 1
    assert "error: slow was not ready after 0.5 s" in stack.said()


def test_a_child_that_does_not_end_is_killed_after_its_time(stand_in: Start) -> None:
    stack = stand_in([{"name": "server"}], [{"name": "stubborn", "code": STUBBORN, "stop_timeout_s": 0.5}])
    stack.wait_ready()
    assert stack.stop() == 1
    assert "stubborn is killed: it did not end in 0.5 s" in stack.said()
    assert stack.events()[-1] == "server ends"


def test_a_second_signal_ends_it_at_once(stand_in: Start) -> None:
    stack = stand_in([{"name": "stubborn", "code": STUBBORN, "stop_timeout_s": 600}])
    stack.wait_ready()
    stack.process.send_signal(signal.SIGTERM)
    wait_until(lambda: "stopping" in stack.said(), "it stops", 5)
    stack.process.send_signal(signal.SIGTERM)
    assert stack.wait() == 1
    assert stack.nothing_is_left()


def test_a_signal_while_starting_ends_it(stand_in: Start) -> None:
    stack = stand_in([{"name": "server"}], [{"name": "slow", "code": "time.sleep(600)"}])
    wait_until(lambda: stack.events() == ["server starts"], "the first child runs", 10)
    assert stack.stop() == 0
    assert stack.events() == ["server starts", "server ends"]


def test_two_stacks_in_one_folder_are_refused_by_the_first_ones_pid(stand_in: Start) -> None:
    first = stand_in([{"name": "server"}])
    first.wait_ready()
    second = stand_in([{"name": "server"}])
    assert second.wait() == 1
    assert (
        f"data folder owned by another running process: {first.folder} belongs to pid {first.process.pid}"
        in second.said()
    )
    assert first.events() == ["server starts"]
    assert first.stop() == 0


def test_a_full_disk_is_named(stand_in: Start, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(small)], capture_output=True
    ).returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        stack = stand_in([{"name": "server"}], folder=small / "stack")
        assert stack.wait() == 1
        assert "the disk is full" in stack.said()
        assert str(small) in stack.said()
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_log_is_kept_short(stand_in: Start) -> None:
    code = "ready()\nfor _ in range(24): print('x' * (1 << 20), flush=True)\nserve()"
    stack = stand_in([{"name": "talker", "code": code}])
    stack.wait_ready()
    log = stack.folder / "logs" / "talker.log"
    wait_until(
        lambda: len(stack.pids("talker")) == 2 and log.stat().st_size < 11 << 20, "the log is moved aside", 10
    )
    assert (stack.folder / "logs" / "talker.log.1").stat().st_size > 10 << 20
    assert stack.stop() == 0


def test_commands_find_a_running_stack_and_say_what_to_do_without_one(
    stand_in: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOOM_CLICKHOUSE_URL", "LOOM_REDIS_URL", "LOOM_BASE_URL", "LOOM_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(Unavailable, match="start one with `loom up --data-dir"):
        find_stack(tmp_path / "stack")
    stack = stand_in([{"name": "server"}])
    stack.wait_ready()
    wait_until(lambda: (stack.folder / "stack.json").exists(), "stack.json is there", 5)
    found = find_stack(stack.folder)
    assert (found.clickhouse_url, found.redis_url) == ("http://127.0.0.1:1", "redis://127.0.0.1:2/0")
    assert (stack.folder / "stack.json").stat().st_mode & 0o077 == 0
    monkeypatch.setenv("LOOM_DATA_DIR", str(stack.folder))
    assert find_stack() == found
    monkeypatch.setenv("LOOM_CLICKHOUSE_URL", "http://elsewhere:8123")
    assert find_stack().clickhouse_url == "http://elsewhere:8123"
    assert find_stack(settings=Settings()).redis_url == "redis://127.0.0.1:2/0"
    monkeypatch.delenv("LOOM_CLICKHOUSE_URL")
    stack.process.kill()
    stack.wait()
    with pytest.raises(Unavailable, match="no stack is running"):
        find_stack()
