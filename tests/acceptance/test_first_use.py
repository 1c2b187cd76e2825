"""What a newcomer does first, with curl; and wrong input of every kind, which leaves nothing half-written."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from tests.support.stack import HttpWorld, Stack

ROW = {"memory_key": "k", "value": "text", "entities": ["alpha service", "beta service"]}


def curl(url: str, body: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        ["curl", "-sS", "--fail-with-body", url, "-H", "content-type: application/json", "-d", json.dumps(body)],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_a_row_set_with_curl_shows_at_once_and_setting_it_again_changes_nothing(space: HttpWorld) -> None:
    scope = {"org": "dev", "namespace": space.name}
    row = scope | {
        "memory_key": "billing/depends_on",
        "value": "The billing service reads invoices from the ledger database.",
        "entities": ["The Billing Services", "ledger database"],
        "relations": [["billing service", "reads", "ledger database"]],
    }
    asked = [
        ("facts.list", {"entity": "ledger database"}),
        ("facts.related", {"entity": "billing service's"}),
    ]

    def shown() -> list[dict[str, Any]]:
        return [curl(f"{space.url}/v1/{op}", scope | body) for op, body in asked]

    written = curl(f"{space.url}/v1/memory.set", row)
    assert (written["noop"], written["degraded"]) == (False, [])
    listed, related = shown()
    [fact] = listed["rows"]
    assert (fact["subject"], fact["relation"], fact["object"]) == (
        "billing service",
        "read",
        "ledger database",
    )
    assert (fact["co_occur"], fact["adapter_name"], fact["provenance"]) == (1, "caller", "extracted")
    [neighbour] = related["related"]
    assert (neighbour["entity"], neighbour["co_occur"], neighbour["seed_side"]) == (
        "ledger database",
        1,
        "subject",
    )

    again = curl(f"{space.url}/v1/memory.set", row)
    assert (again["noop"], again["memory_id"], again["version"]) == (True, written["memory_id"], 1)
    assert shown() == [listed, related]


WRONG = {
    "not JSON": b"{memory_key: k",
    "nothing": b"",
    "not an object": b"[1]",
    "bytes that are no UTF-8": b'{"memory_key": "k", "value": "\xff"}',
    "a lone surrogate": b'{"memory_key": "k", "value": "\\ud800"}',
    "a lone surrogate in a name": b'{"memory_key": "k", "value": "v", "entities": ["\\udfff"]}',
    "a key of another type": {"memory_key": 5},
    "an entity of another type": {"entities": ["alpha service", 5]},
    "entities that are no list": {"entities": "alpha service"},
    "a broken date": {"valid_at": "2025-02-30"},
    "a date in words": {"valid_at": "last week"},
    "a date as a number": {"valid_at": 1_700_000_000},
    "an end before its start": {"valid_at": "2025-02-01", "valid_to": "2025-01-01"},
    "a value of ten megabytes": {"value": "x" * 10_000_000},
    "NUL in the key": {"memory_key": "a\0b"},
    "NUL in a name": {"entities": ["alpha\0service"]},
    "a control character in the key": {"memory_key": "a\x07b"},
    "ten thousand entities": {"entities": [f"entity {number} x" for number in range(10_000)]},
    "nine relations": {"relations": [["user", "own", f"thing {number} x"] for number in range(9)]},
    "a relation of two": {"relations": [["user", "own"]]},
    "a relation without a form": {"relations": [["user", "own", "it"]]},
    "an unknown sensitivity": {"sensitivity": "secret"},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_wrong_input_is_a_4xx_and_leaves_nothing_behind(
    space: HttpWorld, wrong: bytes | dict[str, Any]
) -> None:
    scope = {"org": "dev", "namespace": space.name}
    body = wrong if isinstance(wrong, bytes) else json.dumps(scope | ROW | wrong).encode()
    answer = space.client.post(f"{space.url}/v1/memory.set", content=body)
    detail = answer.json()["detail"]
    assert answer.status_code in (413, 422), answer.text[:200]
    assert detail["message"] and detail["category"] in ("invalid", "limit")
    assert detail["retryable"] is False
    assert space.call("facts.list")["rows"] == []
    assert space.call("namespace.taxonomy")["entities"] == []
    assert space.call("memory.search", query="text")["hits"] == []


def test_an_unknown_op_and_another_method_are_named_as_such(space: HttpWorld) -> None:
    unknown = space.post("facts.travers")
    assert (unknown.status_code, unknown.json()["detail"]["category"]) == (404, "not_found")
    assert space.client.get(f"{space.url}/v1/facts.list").status_code == 405


KEYS = (
    "a/b/c",
    "/",
    "ключ",
    "鍵 with spaces",
    "emoji 🦉",
    "per%2Fcent?&=#",
    'it\'s "quoted"',
    "..",
    "' OR 1=1 --",
    "e\u0301",
)


def test_a_key_of_any_letters_is_kept_as_it_is(space: HttpWorld) -> None:
    for number, key in enumerate(KEYS):
        space.set(key, f"value of {number}", ["alpha service", f"leaf {number} service"])
    for number, key in enumerate(KEYS):
        found = space.call("memory.get", memory_key=key)
        assert (found["memory_key"], found["value"]) == (key, f"value of {number}")
    assert space.related("alpha service") == {f"leaf {number} service": 1 for number in range(len(KEYS))}
    erased = KEYS[0]
    assert space.call("memory.erase", memory_key=erased)["found"] is True
    assert {key: space.call("memory.get", memory_key=key)["found"] for key in KEYS} == {
        key: key != erased for key in KEYS
    }


def test_a_text_with_nul_and_control_characters_is_kept_as_it_is(space: HttpWorld) -> None:
    value = {"text": "tab\t nul\0 bell\x07 escape\x1b[0m", "deep": [{"\u2028": None}]}
    answer = space.post("memory.set", memory_key="k", value=value, entities=[])
    assert answer.status_code in (200, 422)
    found = space.call("memory.get", memory_key="k")
    assert found["found"] == (answer.status_code == 200)
    if found["found"]:
        assert found["value"] == value


def test_a_bad_entry_of_many_is_refused_alone(space: HttpWorld) -> None:
    entries = [
        {"memory_key": "good", "value": "text", "entities": ["alpha service", "beta service"]},
        {"memory_key": "bad", "value": "text", "relations": [["user", "own", "x" * 257]]},
        "no entry",
        {"memory_key": "also good", "value": "text", "entities": ["alpha service", "gamma service"]},
    ]
    answer = space.call("memory.set_many", entries=entries)
    assert [each["memory_key"] for each in answer["written"]] == ["good", "also good"]
    assert [each["index"] for each in answer["refused"]] == [1, 2]
    assert space.related("alpha service") == {"beta service": 1, "gamma service": 1}
    assert space.call("memory.get", memory_key="bad")["found"] is False


def test_the_server_still_answers_after_all_of_it(stack: Stack) -> None:
    space = stack.namespace()
    assert space.client.get(f"{stack.url}/readyz").status_code == 200
    space.set("k", "text", ["alpha service", "beta service"])
    assert space.related("alpha service") == {"beta service": 1}
