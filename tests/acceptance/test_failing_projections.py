"""Projections that fail in real processes, and what the fleet makes of them, seen over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.servers import wait_until
from tests.support.stack import HttpWorld, Stack, running_stack

TRIES = 6
FAULTS = ",".join(
    (
        "triples:insert:raise:2@half",  # in each process: at the write, and twice in each process that retries
        "edges:insert:raise@poison",
        "edges:insert:raise:1@overtaken",
        "edges:insert:raise@erased",
    )
)
"""Which projections fail, of which keys."""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    environment = {
        "LOOM_TESTING": "1",
        "LOOM_FAULT": FAULTS,
        "LOOM_PROJECTION_RETRY_INTERVAL_S": "1",
        "LOOM_PROJECTION_RETRY_BASE_DELAY_S": "0.2",
        "LOOM_PROJECTION_RETRY_MAX_ATTEMPTS": str(TRIES),
        "LOOM_PROJECTION_RETRY_ORPHAN_AFTER_S": "2",
    }
    with running_stack(tmp_path_factory.mktemp("faulty") / "data", **environment) as stack:
        yield stack


def failures(stack: Stack, space: HttpWorld) -> dict[tuple[str, str], dict[str, Any]]:
    """By key and projection, whatever their state."""
    states = [option for state in ("open", "dead", "resolved", "stale") for option in ("--state", state)]
    listed = stack.loom("failures", "list", "--json", *states, "--org", "dev", "--namespace", space.name)
    assert listed.returncode == 0, listed.stderr
    return {(each["memory_key"], each["projection"]): each for each in json.loads(listed.stdout)}


def verify(stack: Stack, space: HttpWorld) -> None:
    verified = stack.loom("verify", "--org", "dev", "--namespace", space.name)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_retries_after_the_edges_leave_what_a_clean_run_leaves(stack: Stack, space: HttpWorld) -> None:
    """B37."""
    written = space.set("half", "text", ["alpha service", "beta service"], [["user", "own", "kestrel"]])
    assert "triples" in written["degraded"]
    assert space.objects(relation="own") == {}, "the write stands, its triple does not"
    assert space.call("memory.get", memory_key="half")["found"] is True
    wait_until(lambda: space.objects(relation="own") == {"kestrel": 1}, "the retries have brought the triple")
    node = space.walk("alpha service")["beta service"]
    assert (node["via_co_occur"], node["degree"]) == (1, 1)
    space.wait_until_drained()
    assert failures(stack, space)["half", "triples"]["state"] == "resolved"
    verify(stack, space)


def test_a_row_that_always_fails_is_given_up_and_stays_visible_while_fifty_others_are_done(
    stack: Stack, space: HttpWorld
) -> None:
    """B60."""
    good = [
        {"memory_key": f"k{n}", "value": "text", "entities": ["hub service", f"leaf {n} service"]}
        for n in range(50)
    ]
    poison = {"memory_key": "poison", "value": "text", "entities": ["hub service", "poison service"]}
    answer = space.call("memory.set_many", entries=[*good[:25], poison, *good[25:]])
    assert (len(answer["written"]), answer["refused"]) == (51, [])
    space.wait_until_drained()
    assert space.related("hub service", top_k=200) == {f"leaf {n} service": 1 for n in range(50)}
    found = failures(stack, space)
    dead = found.pop(("poison", "edges"))
    assert (dead["state"], dead["attempts"], dead["error_class"]) == ("dead", TRIES, "InjectedFault")
    assert {each["state"] for each in found.values()} <= {"resolved"}
    [retries] = [each for each in space.call("ops.fleet")["workers"] if each["worker"] == "projection_retry"]
    assert retries["failures"]["dead"] >= 1
    assert space.call("memory.get", memory_key="poison")["found"] is True


def test_a_value_that_failed_and_was_overtaken_never_appears(stack: Stack, space: HttpWorld) -> None:
    """B67."""
    first = space.set("overtaken", "v1", ["old service", "shared service"], [["user", "own", "old kestrel"]])
    assert "edges" in first["degraded"]
    second = space.set("overtaken", "v2", ["new service", "shared service"], [["user", "own", "new kestrel"]])
    assert second["degraded"] == []
    space.wait_until_drained()
    assert space.related("shared service") == {"new service": 1}
    assert space.objects(relation="own") == {"new kestrel": 1}
    assert space.walk("new service")["shared service"]["degree"] == 1
    states = {each["state"] for (key, _), each in failures(stack, space).items() if key == "overtaken"}
    assert states == {"stale"}
    verify(stack, space)


def test_a_failure_of_an_erased_row_goes_with_it(stack: Stack, space: HttpWorld) -> None:
    """B72: the failure retry brings nothing back."""
    assert space.set("erased", "text", ["alpha service", "beta service"])["degraded"] == ["edges"]
    assert ("erased", "edges") in failures(stack, space)
    assert space.call("memory.erase", memory_key="erased")["found"] is True
    space.set("other", "text", ["gamma service", "delta service"])
    space.wait_until_drained()
    assert space.related("alpha service") == {}
    assert [key for key in failures(stack, space) if key[0] == "erased"] == []
    verify(stack, space)
