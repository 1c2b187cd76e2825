"""Racing writers over HTTP, and what the reads of a graph answer at its edges."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support.stack import HttpWorld, Stack

ROUNDS = 100 if os.environ.get("LOOM_NIGHTLY") else 15


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """The answers of calls made by as many clients at the same time."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


def clean(stack: Stack, space: HttpWorld) -> None:
    verified = stack.loom("verify", "--org", "dev", "--namespace", space.name)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_two_equal_writes_at_once_leave_one_observation_each_time(stack: Stack, space: HttpWorld) -> None:
    """B33: a hundred times in the nightly form."""
    twin = HttpWorld(space.url, space.name)
    leaves = [f"leaf {number} service" for number in range(ROUNDS)]

    def write(client: HttpWorld, leaf: str) -> str:
        answer = client.set(leaf, "text", ["hub service", leaf], [["hub service", "own", leaf]])
        return str(answer["memory_id"])

    for leaf in leaves:
        ids = at_once([lambda leaf=leaf: write(space, leaf), lambda leaf=leaf: write(twin, leaf)])
        assert len(set(ids)) == 1
    nodes = space.walk("hub service", max_hops=1, top_k_per_hop=100)
    assert {name: node["via_co_occur"] for name, node in nodes.items()} == dict.fromkeys(leaves, 1)
    rows = space.call("facts.list", subject="hub service", include_sources=True, limit=500)["rows"]
    assert {row["object"]: (row["co_occur"], row["sources"]) for row in rows} == {
        leaf: (1, [leaf]) for leaf in leaves
    }
    assert len(space.call("memory.history", memory_key=leaves[0])["versions"]) == 1
    clean(stack, space)


def test_twenty_racing_clients_that_set_the_same_row_leave_one_observation(space: HttpWorld) -> None:
    clients = [HttpWorld(space.url, space.name) for _ in range(20)]
    answers = at_once([lambda c=c: c.set("k", "text", ["alpha service", "beta service"]) for c in clients])
    assert len({answer["memory_id"] for answer in answers}) == 1
    assert space.walk("alpha service")["beta service"]["via_co_occur"] == 1
    assert space.walk("alpha service")["beta service"]["degree"] == 1
    assert len(space.call("memory.history", memory_key="k")["versions"]) == 1


@pytest.mark.parametrize("attempt", range(5))
def test_of_two_values_of_one_day_that_race_the_later_arrival_alone_is_current(
    stack: Stack, space: HttpWorld, attempt: int
) -> None:
    """B18: two clients at once; every reader names the same one."""
    twin = HttpWorld(space.url, space.name)

    def state(client: HttpWorld, key: str, city: str) -> dict[str, Any]:
        relation = {"subject": "user", "relation": "live_in", "object": city, "valid_from": "2025-10-01"}
        return client.state(key, relation)

    at_once([lambda: state(space, "k1", "london"), lambda: state(twin, "k2", "paris")])
    arrived = {
        city: space.call("memory.get", memory_key=key)["created_at"]
        for key, city in (("k1", "london"), ("k2", "paris"))
    }
    assert arrived["london"] != arrived["paris"]
    later = max(arrived, key=lambda city: str(arrived[city]))
    earlier = min(arrived, key=lambda city: str(arrived[city]))
    assert space.objects() == {later: 1}
    assert list(space.related("user")) == [later]
    assert list(space.walk("user", labeled=True)) == [later]
    assert space.call("facts.path", entity_a="user", entity_b=later, labeled=True)["found"] is True
    assert space.call("facts.path", entity_a="user", entity_b=earlier, labeled=True)["found"] is False
    if attempt == 0:
        clean(stack, space)


def test_a_moment_later_on_the_same_day_is_newer_in_either_order(space: HttpWorld) -> None:
    """B18: one after the other."""
    cities = ("london", "paris", "london", "paris")
    for number, city in enumerate(cities):
        relation = {"subject": "user", "relation": "live_in", "object": city, "valid_from": "2025-10-01"}
        space.state(f"k{number}", relation)
        assert list(space.objects()) == [city]


def test_a_direction_reads_the_same_from_either_end(space: HttpWorld) -> None:
    """B41."""
    space.state("k1", ["anna", "report_to", "boris"])
    space.set("k2", "a", ["anna", "boris"])
    space.set("k3", "b", ["boris", "anna"])
    [row] = space.call("facts.list", object="boris")["rows"]
    assert (row["subject"], row["relation"], row["object"]) == ("anna", "report_to", "boris")
    [neighbour] = space.call("facts.related", entity="boris")["related"]
    assert (neighbour["entity"], neighbour["seed_side"], neighbour["relations"]) == (
        "anna",
        "object",
        ["report_to"],
    )
    node = space.walk("boris", labeled=True, max_hops=4)["anna"]
    assert (node["via_relation"], node["via_direction"], node["via_co_occur"]) == ("report_to", "in", 1)
    assert space.walk("anna", labeled=True)["boris"]["via_direction"] == "out"
    assert space.walk("anna")["boris"]["via_co_occur"] == space.walk("boris")["anna"]["via_co_occur"] == 2


def test_a_node_that_two_parents_reach_is_reported_once_through_the_stronger(space: HttpWorld) -> None:
    """B85."""
    for number, pair in enumerate(("alpha beta", "alpha gamma", "beta delta", "gamma delta", "gamma delta")):
        space.set(f"k{number}", "text", pair.split())
    node = space.walk("alpha", hub_share=0)["delta"]
    assert (node["hop"], node["path"]) == (2, ["alpha", "gamma", "delta"])
    assert (node["via_co_occur"], node["cumulative_weight"]) == (2, 3)


def chain(space: HttpWorld, *names: str, times: int = 1) -> None:
    for one, other in itertools.pairwise(names):
        for number in range(times):
            space.set(f"{one}-{other}-{number}", "text", [one, other])


def test_a_path_between_two_spellings_of_one_entity_is_that_entity(space: HttpWorld) -> None:
    """B86."""
    answer = space.call("facts.path", entity_a="The Billing Service", entity_b="billing services")
    assert (answer["found"], answer["path"], answer["edges"]) == (True, ["billing service"], [])
    assert (answer["hops"], answer["truncated"]) == (0, False)


def test_a_path_that_is_not_found_says_whether_it_was_looked_for_to_the_end(space: HttpWorld) -> None:
    """B86."""
    names = ("alpha one", "bravo two", "charlie three", "delta four", "echo five", "foxtrot six")
    chain(space, *names)

    def asked(*ends: str, **more: Any) -> tuple[bool, bool]:
        answer = space.call("facts.path", entity_a=ends[0], entity_b=ends[1], **more)
        assert answer["found"] or answer["path"] == answer["edges"] == []
        return answer["found"], answer["truncated"]

    assert asked("alpha one", "never heard of") == (False, False)
    assert asked("alpha one", "foxtrot six", max_hops=4) == (False, True)
    found = space.call("facts.path", entity_a="alpha one", entity_b="echo five", max_hops=4)
    assert (found["path"], found["hops"]) == (list(names[:5]), 4)
    chain(space, "golf seven", "hotel eight")
    assert asked("golf seven", "alpha one", max_hops=4) == (False, False), "its whole neighbourhood was seen"


def test_a_link_that_the_trim_hides_leaves_the_answer_marked_as_incomplete(space: HttpWorld) -> None:
    """B86."""
    chain(space, "alpha one", "bravo two", "charlie three")
    chain(space, "alpha one", "heavy left", times=2)
    chain(space, "charlie three", "heavy right", times=2)
    ends = {"entity_a": "alpha one", "entity_b": "charlie three"}
    hidden = space.call("facts.path", top_k_per_hop=1, **ends)
    assert (hidden["found"], hidden["truncated"]) == (False, True)
    assert space.call("facts.path", top_k_per_hop=2, **ends)["found"] is True


def test_a_hub_beside_the_seed_is_reported_and_not_walked_through(space: HttpWorld) -> None:
    """B84, as much of it as HTTP shows: the full size stands in the integration tests of the reads."""
    entries = [
        {"memory_key": f"m{number}", "value": "text", "relations": [],
         "entities": ["busy hub", *[f"node {(number * 13 + step) % 3000} x" for step in range(14)]]}
        for number in range(300)
    ]  # fmt: skip
    entries.append(
        {
            "memory_key": "seed",
            "value": "text",
            "relations": [],
            "entities": ["the seed x", "busy hub", "node 5 x"],
        }
    )
    for start in range(0, len(entries), 100):
        answer = space.call("memory.set_many", entries=entries[start : start + 100])
        assert not answer["refused"]
    k, seconds = 5, []
    for hops in (2, 4):
        started = time.monotonic()
        answer = space.call("facts.traverse", seed_entity="the seed x", max_hops=hops, top_k_per_hop=k)
        seconds.append(time.monotonic() - started)
        assert "busy hub" in answer["hubs"]
        hub = next(node for node in answer["nodes"] if node["entity"] == "busy hub")
        assert (hub["hub"], hub["hop"]) == (True, 1)
        assert all("busy hub" not in node["path"][:-1] for node in answer["nodes"])
        sizes = [sum(node["hop"] == hop for node in answer["nodes"]) for hop in range(1, hops + 1)]
        assert all(size <= k**hop for hop, size in enumerate(sizes, 1)), sizes
        assert sizes[1] > 0
        assert answer["truncated"] is False
    cut = space.call("facts.traverse", seed_entity="the seed x", max_hops=2, top_k_per_hop=k, max_nodes=3)
    assert (len(cut["nodes"]), cut["truncated"]) == (3, True)
    assert max(seconds) < 5, seconds


def test_one_slow_walk_does_not_hold_up_other_calls(stack: Stack, space: HttpWorld) -> None:
    """B84: "one slow call blocks the rest"."""
    chain(space, *[f"link {number} x" for number in range(6)])
    other = HttpWorld(stack.url, space.name)
    with ThreadPoolExecutor(8) as pool:
        walks = [pool.submit(space.walk, "link 0 x", max_hops=4) for _ in range(20)]
        started = time.monotonic()
        assert httpx.get(f"{stack.url}/healthz", timeout=10).status_code == 200
        assert other.call("memory.get", memory_key="none")["found"] is False
        assert time.monotonic() - started < 5
        assert {len(walk.result()) for walk in walks} == {4}
