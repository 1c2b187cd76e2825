"""What goes stays gone, and what belongs to one namespace stays in it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.stack import HttpWorld, Stack

READS = "The {0} harbor service reads the {0} ledger database, said the {0} operator in note {1}."


def test_a_fact_stands_as_long_as_one_source_states_it(space: HttpWorld) -> None:
    """B69."""
    for key in ("k1", "k2"):
        space.set(
            key, f"text of {key}", ["kestrel project", "audit log"], [["user", "own", "kestrel project"]]
        )
    erased = space.call("memory.erase", memory_key="k1")
    assert (erased["found"], erased["done"]) == (True, True)
    [row] = space.call("facts.list", subject="user", include_sources=True, include_source_status=True)["rows"]
    assert (row["co_occur"], row["sources"]) == (1, ["k2"])
    assert row["source_status"] == [{"memory_key": "k2", "status": "live"}]
    assert space.walk("audit log")["kestrel project"]["via_co_occur"] == 1
    assert space.call("memory.history", memory_key="k1")["versions"] == []
    space.call("memory.erase", memory_key="k2")
    assert space.call("facts.list")["rows"] == []
    assert space.call("facts.list", as_of="2020-01-01")["rows"] == []
    assert space.related("audit log") == space.related("user") == {}
    assert space.call("namespace.taxonomy")["entities"] == []


def test_what_was_erased_does_not_return_with_any_later_run(stack: Stack, space: HttpWorld) -> None:
    """B72."""
    space.call(
        "memory.set_many",
        entries=[{"memory_key": f"k{n}", "value": READS.format("amber", n)} for n in (1, 2)],
    )
    space.wait_until_drained()
    assert space.related("amber ledger database")
    for key in ("k1", "k2"):
        space.call("memory.erase", memory_key=key)
    space.call("memory.set_many", entries=[{"memory_key": "k3", "value": READS.format("cobalt", 3)}])
    space.wait_until_drained()
    where = ("--org", "dev", "--namespace", space.name)
    for command in (["replay", "projections"], ["communities", "run", "--force"], ["verify"]):
        done = stack.loom(*command, *where)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    assert space.related("amber ledger database") == {}
    assert space.related("cobalt ledger database")
    names = {each["entity"] for each in space.call("namespace.taxonomy")["entities"]}
    assert names and not [name for name in names if "amber" in name]
    assert not space.call("memory.search", query="amber")["hits"]


def test_expiring_an_adapter_takes_what_is_strictly_below_the_ceiling(space: HttpWorld) -> None:
    """B75."""
    for key, confidence in (("low", 0.4), ("middle", 0.5), ("full", 1.0)):
        thing = f"{key} project"
        relation = {"subject": "user", "relation": "own", "object": thing, "confidence": confidence}
        space.set(key, f"user owns the {thing}", [], [relation])

    def expire(adapter: str = "caller", **more: float) -> tuple[int, int]:
        answer = space.call("facts.expire_by_adapter", adapter_name=adapter, **more)
        return answer["expired_triples"], answer["expired_triple_memories"]

    assert expire("no-such") == (0, 0)
    assert expire("CALLER") == (0, 0), "an exact match"
    assert expire(max_confidence=0.5) == (1, 1)
    assert set(space.objects(relation="own")) == {"middle project", "full project"}
    assert expire() == (2, 2)
    assert expire() == (0, 0)
    assert space.objects(relation="own") == {}
    assert all(space.call("memory.get", memory_key=key)["found"] for key in ("low", "middle", "full"))


def test_two_hundred_interleaved_jobs_of_two_namespaces_stay_apart(stack: Stack) -> None:
    """B76: one worker process extracts for both."""
    spaces = {name: stack.namespace() for name in ("amber", "cobalt")}

    def write(job: int) -> None:
        name = ("amber", "cobalt")[job % 2]
        entries = [{"memory_key": f"{job}-{n}", "value": READS.format(name, f"{job} {n}")} for n in range(10)]
        assert not HttpWorld(stack.url, spaces[name].name).call("memory.set_many", entries=entries)["refused"]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(20)))
    spaces["amber"].wait_until_drained()
    for name, other in (("amber", "cobalt"), ("cobalt", "amber")):
        space = spaces[name]
        assert space.related(f"{name} ledger database")[f"{name} harbor service"] == 100
        names = [each["entity"] for each in space.call("namespace.taxonomy", limit=1000)["entities"]]
        assert [entity for entity in names if name in entity]
        assert not [entity for entity in names if other in entity]
        assert space.related(f"{other} ledger database") == {}
        assert not [row for row in space.call("facts.list", limit=500)["rows"] if other in str(row)]


@pytest.mark.parametrize("kind", ["set_many", "set_from_messages"])
def test_a_bulk_row_of_high_sensitivity_leaves_no_trace_in_the_graph(space: HttpWorld, kind: str) -> None:
    """B80."""
    text = READS.format("amber", 1)
    if kind == "set_many":
        entry = {"memory_key": "k", "value": text, "sensitivity": "high", "entities": ["alpha service", "beta service"],
                 "relations": [["user", "own", "vault"]]}  # fmt: skip
        assert len(space.call("memory.set_many", entries=[entry])["written"]) == 1
    else:
        message = {"role": "user", "content": text}
        space.call("memory.set_from_messages", messages=[message], sensitivity="high")
    space.wait_until_drained()
    assert space.call("facts.list")["rows"] == []
    assert space.call("namespace.taxonomy")["entities"] == []
    for entity in ("alpha service", "user", "amber ledger database"):
        assert space.related(entity) == {}


def test_a_point_row_of_high_sensitivity_shows_its_declared_pairs_and_nothing_of_its_text(
    space: HttpWorld,
) -> None:
    """B80."""
    space.set("k", READS.format("amber", 1), ["alpha service", "beta service"], [["user", "own", "vault"]],
              sensitivity="high")  # fmt: skip
    space.wait_until_drained()
    assert space.related("alpha service") == {"beta service": 1}
    assert {each["entity"] for each in space.call("namespace.taxonomy")["entities"]} == {
        "alpha service",
        "beta service",
    }
    assert space.call("facts.list")["rows"] == []


def test_a_row_that_turns_high_loses_what_came_from_its_text(space: HttpWorld) -> None:
    """B80, D37."""
    space.call("memory.set_many", entries=[{"memory_key": "k", "value": READS.format("amber", 1)}])
    space.wait_until_drained()
    assert space.related("amber ledger database")
    assert space.call("memory.update", memory_key="k", sensitivity="high")["updated"] is True
    space.wait_until_drained()
    assert space.related("amber ledger database") == {}
    assert space.call("facts.list")["rows"] == []
