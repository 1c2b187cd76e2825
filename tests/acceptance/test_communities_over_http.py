"""Communities as readers see them: by the operator's command, and by the worker where its gate is on."""

from __future__ import annotations

import json
from typing import Any

from tests.support.servers import wait_until
from tests.support.stack import HttpWorld, Stack, running_stack


def cliques(space: HttpWorld, count: int = 10, hub: str | None = "user") -> list[set[str]]:
    """Ten groups of five, each named by one memory; `hub` is in all of them."""
    groups = [{f"topic {group} part {part} x" for part in range(5)} for group in range(count)]
    entries = [
        {"memory_key": f"k{n}", "value": "text", "entities": sorted(group) + ([hub] if hub else [])}
        for n, group in enumerate(groups)
    ]
    assert not space.call("memory.set_many", entries=entries)["refused"]
    return groups


def compute(stack: Stack, space: HttpWorld, *options: str) -> dict[str, Any]:
    done = stack.loom("communities", "run", "--json", "--org", "dev", "--namespace", space.name, *options)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def communities(space: HttpWorld) -> list[set[str]]:
    return [set(each["members"]) for each in space.call("namespace.taxonomy")["communities"]]


def test_a_hub_fuses_no_communities_and_readers_see_them(stack: Stack, space: HttpWorld) -> None:
    """B44, with the gate off and `--force`."""
    groups = cliques(space)
    refused = stack.loom("communities", "run", "--org", "dev", "--namespace", space.name)
    assert refused.returncode == 1
    assert "LOOM_ENTITY_COMMUNITIES_ENABLED" in refused.stderr
    assert communities(space) == []

    summary = compute(stack, space, "--force")
    assert (summary["communities"], summary["dropped"]) == (10, ["user"])
    found = communities(space)
    assert sorted(map(sorted, found)) == sorted(map(sorted, groups))
    ids = {
        each["entity"]: each["community_id"]
        for each in space.call("namespace.taxonomy", limit=1000)["entities"]
    }
    assert ids.pop("user") is None
    assert all(ids[name] == number for number, group in enumerate(found) for name in group)
    walk = space.call("facts.traverse", seed_entity="topic 3 part 0 x", max_hops=1, hub_share=0)
    assert walk["seed_community_id"] == ids["topic 3 part 0 x"]
    assert {node["community_id"] for node in walk["nodes"] if node["entity"] != "user"} == {
        walk["seed_community_id"]
    }


def test_an_empty_namespace_has_none_and_one_s_pass_leaves_another_s_alone(
    stack: Stack, space: HttpWorld
) -> None:
    """B46, B49."""
    other, empty = stack.namespace(), stack.namespace()
    groups = cliques(other, 3, hub=None)
    compute(stack, other, "--force")
    before = other.call("namespace.taxonomy")
    assert sorted(map(sorted, communities(other))) == sorted(map(sorted, groups))
    compute(stack, empty, "--force")
    assert space.call("facts.traverse", seed_entity="anything here")["seed_community_id"] is None
    assert communities(empty) == []
    cliques(space, 2, hub=None)
    compute(stack, space, "--force")
    assert len(communities(space)) == 2
    assert other.call("namespace.taxonomy") == before


def test_a_pair_and_a_triangle_are_one_community_each(stack: Stack, space: HttpWorld) -> None:
    """B43."""
    names = {"pair": ["one alpha", "one beta"], "triangle": ["two alpha", "two beta", "two gamma"]}
    for kind, entities in names.items():
        for number in range(2):
            space.set(f"{kind}{number}", f"text {number}", entities)
    compute(stack, space, "--force")
    assert sorted(map(sorted, communities(space))) == sorted(map(sorted, names.values()))
    missing = stack.loom("communities", "show", "99", "--org", "dev", "--namespace", space.name)
    assert missing.returncode == 1
    assert "no community 99 at level 0; the largest are" in missing.stderr.replace("\n", " ")


def test_where_the_gate_is_on_the_worker_covers_what_was_walked(tmp_path_factory: Any) -> None:
    """D45: a namespace that nobody walked, and that is not consolidated, is left alone."""
    environment = {"LOOM_ENTITY_COMMUNITIES_ENABLED": "true", "LOOM_ENTITY_COMMUNITIES_INTERVAL_S": "1"}
    with running_stack(tmp_path_factory.mktemp("clustered") / "data", **environment) as stack:
        walked, consolidated, neither = (stack.namespace() for _ in range(3))
        for space in (walked, consolidated, neither):
            cliques(space, 3, hub=None)
        walked.walk("topic 0 part 0 x")
        consolidated.call("namespace.configure", consolidation=True)
        wait_until(
            lambda: len(communities(walked)) == len(communities(consolidated)) == 3, "both are clustered", 120
        )
        assert communities(neither) == []
        assert walked.call("facts.traverse", seed_entity="topic 0 part 0 x")["seed_community_id"] is not None
