"""Input that is wrong, each kind once: the answer is a clear 4xx that names the field, and no handler is reached."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from loom_core.memory.models import MAX_ENTITIES
from loom_core.server.body import MAX_BODY_BYTES
from loom_core.wire import MAX_KEY_CHARS
from tests.support.fake_services import FakeServices

ROW = {"memory_key": "k", "value": "text"}
WALK = {"seed_entity": "billing service"}

WRONG_FIELDS: list[tuple[str, dict[str, Any], str]] = [
    # types: text is no number, true is no integer, a number is no instant
    ("facts.traverse", WALK | {"max_hops": "2"}, "max_hops"),
    ("facts.traverse", WALK | {"max_hops": True}, "max_hops"),
    ("facts.traverse", WALK | {"max_hops": 2.5}, "max_hops"),
    ("facts.traverse", WALK | {"max_hops": None}, "max_hops"),
    ("facts.traverse", WALK | {"labeled": "yes"}, "labeled"),
    ("facts.traverse", WALK | {"labeled": 1}, "labeled"),
    ("facts.traverse", WALK | {"hub_share": "0.1"}, "hub_share"),
    ("facts.traverse", WALK | {"rank_by": "degree"}, "rank_by"),
    ("facts.traverse", WALK | {"relations": "work_at"}, "relations"),
    ("facts.traverse", WALK | {"relations": ["work_at", 3]}, "relations[1]"),
    ("facts.traverse", {"seed_entity": ["a"]}, "seed_entity"),
    ("facts.traverse", {}, "seed_entity"),
    ("facts.list", {"as_of": 1_700_000_000}, "as_of"),
    ("facts.list", {"provenance": "extracted"}, "provenance"),
    ("facts.list", {"provenance": ["guessed"]}, "provenance[0]"),
    ("memory.set", ROW | {"confidence": True}, "confidence"),
    ("memory.set", ROW | {"entities": "billing service"}, "entities"),
    ("memory.set", ROW | {"entities": [1]}, "entities[0]"),
    ("memory.set", ROW | {"sensitivity": "secret"}, "sensitivity"),
    ("memory.set", ROW | {"dry_run": "no"}, "dry_run"),
    ("memory.set", {"memory_key": "k"}, "value"),
    # below the floor
    ("facts.traverse", WALK | {"max_hops": 0}, "max_hops"),
    ("facts.traverse", WALK | {"top_k_per_hop": -1}, "top_k_per_hop"),
    ("facts.traverse", WALK | {"hub_degree": -1}, "hub_degree"),
    ("facts.traverse", WALK | {"hub_share": -0.1}, "hub_share"),
    ("facts.traverse", WALK | {"max_nodes": 0}, "max_nodes"),
    ("facts.list", {"limit": 0}, "limit"),
    ("facts.list", {"min_co_occur": 0}, "min_co_occur"),
    ("facts.expire_by_adapter", {"adapter_name": "a", "max_confidence": -1}, "max_confidence"),
    ("memory.set", ROW | {"confidence": -0.01}, "confidence"),
    # instants
    ("facts.list", {"as_of": "yesterday"}, "as_of"),
    ("facts.list", {"as_of": ""}, "as_of"),
    ("facts.list", {"as_of": "2025-02-30"}, "as_of"),
    ("facts.list", {"as_of": "2025-10-01T25:00:00Z"}, "as_of"),
    ("facts.list", {"as_of": "0001-01-01T00:00:00Z"}, "as_of"),
    ("facts.list", {"as_of": "0001-01-01T00:00:00+14:00"}, "as_of"),
    ("facts.list", {"as_of": "9999-12-31T23:59:59Z"}, "as_of"),
    ("facts.list", {"as_of": "9999-12-31T23:59:59-14:00"}, "as_of"),
    ("memory.set", ROW | {"valid_at": "0001-01-01"}, "valid_at"),
    ("memory.set", ROW | {"valid_at": "2025-01-02", "valid_to": "2025-01-01"}, "valid_to"),
    (
        "memory.set",
        ROW | {"valid_at": "2025-01-01T00:00:00Z", "valid_to": "2025-01-01T00:00:00+01:00"},
        "valid_to",
    ),
    ("memory.update", {"memory_key": "k", "valid_at": "2025-01-02", "valid_to": "2025-01-01"}, "valid_to"),
    # relations
    ("memory.set", ROW | {"relations": [["a", "own", "b"]] * 9}, "relations"),
    ("memory.set", ROW | {"relations": [["a", "own"]]}, "relations[0]"),
    ("memory.set", ROW | {"relations": [["a", "own", 5]]}, "relations[0].object"),
    ("memory.set", ROW | {"relations": ["a own b"]}, "relations[0]"),
    ("memory.set", ROW | {"relations": [{"subject": "a", "relation": "own"}]}, "relations[0].object"),
    ("memory.set", ROW | {"relations": [["a" * 257, "own", "b"]]}, "relations[0].subject"),
    ("memory.set", ROW | {"relations": [["", "own", "b"]]}, "relations[0].subject"),
    (
        "memory.set",
        ROW
        | {
            "relations": [
                {
                    "subject": "a",
                    "relation": "own",
                    "object": "b",
                    "valid_from": "2025-02-01",
                    "valid_to": "2025-01-01",
                }
            ]
        },
        "relations[0].valid_to",
    ),
    (
        "memory.set",
        ROW
        | {
            "valid_to": "2025-01-01",
            "relations": [{"subject": "a", "relation": "own", "object": "b", "valid_from": "2025-02-01"}],
        },
        "relations[0].valid_to",
    ),
    # text
    ("memory.set", ROW | {"memory_key": ""}, "memory_key"),
    ("memory.set", ROW | {"memory_key": "  "}, "memory_key"),
    ("memory.set", ROW | {"memory_key": "a\0b"}, "memory_key"),
    ("memory.set", ROW | {"memory_key": "a\nb"}, "memory_key"),
    ("memory.set", ROW | {"memory_key": "a\u2028b"}, "memory_key"),
    ("memory.set", ROW | {"memory_key": "k" * (MAX_KEY_CHARS + 1)}, "memory_key"),
    ("memory.set", ROW | {"entities": ["a\0b"]}, "entities[0]"),
    ("memory.set", ROW | {"agent": "a\x07"}, "agent"),
    ("memory.set", ROW | {"org": ""}, "org"),
    ("memory.set", ROW | {"namespace": "n" * 257}, "namespace"),
    ("memory.set", ROW | {"namespace": 5}, "namespace"),
    ("facts.traverse", {"seed_entity": "a\0"}, "seed_entity"),
    ("facts.list", {"user_id": "\0"}, "user_id"),
    # size and shape
    ("memory.set", ROW | {"entities": ["e"] * (MAX_ENTITIES + 1)}, "entities"),
    ("memory.set", ROW | {"entities": ["e"] * 10_000}, "entities"),
    ("memory.set", ROW | {"value": "x" * 10_000_000}, "8388608"),
    ("memory.set", ROW | {"value": json.loads("[" * 200 + "]" * 200)}, "value"),
    ("memory.set_many", {"entries": {}}, "entries"),
    ("memory.set", ROW | {"if_match_sha256": "abc"}, "if_match_sha256"),
    ("memory.set", ROW | {"supersedes": ["k"]}, "supersedes"),
    ("memory.restore", {}, "memory_key or memory_id"),
    ("memory.restore", {"memory_id": "m", "version": 1}, "version"),
    ("memory.restore", {"memory_key": "k", "version": 0}, "version"),
    ("memory.link", {"from_key": "a", "to_key": "a", "link_type": "caused"}, "to_key"),
    ("memory.link", {"from_key": "a", "to_key": "b", "link_type": "Not A Type"}, "link_type"),
    (
        "namespace.register_ontology",
        {"relations": [{"name": "own", "cardinality": "two"}]},
        "relations[0].cardinality",
    ),
]


@pytest.mark.parametrize(("op", "body", "named"), WRONG_FIELDS)
def test_a_wrong_field_is_a_422_that_names_it(
    client: TestClient, services: FakeServices, op: str, body: dict[str, Any], named: str
) -> None:
    response = client.post(f"/v1/{op}", json=body)
    detail = response.json()["detail"]
    assert response.status_code == 422
    assert named in detail["message"]
    assert (detail["category"], detail["retryable"]) == ("invalid", False)
    assert services.calls == []


NOT_JSON = [
    (b"not json", "not JSON"),
    (b"", "value"),
    (b" \n ", "not JSON"),
    (b"[]", "object"),
    (b"null", "object"),
    (b'"text"', "object"),
    (b"\xff\xfe", "UTF-8"),
    (b'\xef\xbb\xbf{"memory_key": "k", "value": 1}', "not JSON"),
    (b'{"memory_key": "k", "value": NaN}', "NaN"),
    (b'{"memory_key": "k", "value": -Infinity}', "Infinity"),
    (b'{"memory_key": "k", "value": 1e400}', "1e400"),
    (b'{"memory_key": "k", "value": ' + b"9" * 5000 + b"}", "digits"),
    (b'{"memory_key": "k", "value": "\\ud800"}', "surrogate"),
    (b'{"memory_key": "k", "value": {"\\udfff": 1}}', "surrogate"),
    (b'{"memory_key": "k\\ud800", "value": 1}', "memory_key"),
    (b'{"memory_key": "k", "value": 1, "entities": ["\\ud800"]}', "entities[0]"),
    (b'{"memory_key": "k", "value": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested"),
]


@pytest.mark.parametrize(("body", "named"), NOT_JSON)
def test_a_body_that_is_not_json_is_a_422(
    client: TestClient, services: FakeServices, body: bytes, named: str
) -> None:
    response = client.post("/v1/memory.set", content=body)
    assert response.status_code == 422
    assert named in response.json()["detail"]["message"]
    assert services.calls == []


def test_a_body_over_the_limit_is_a_413(client: TestClient, services: FakeServices) -> None:
    response = client.post("/v1/memory.set", json=ROW | {"value": "x" * MAX_BODY_BYTES})
    assert response.status_code == 413
    assert response.json()["detail"] == {
        "code": "body_too_large",
        "message": f"the body is over {MAX_BODY_BYTES} bytes",
        "category": "limit",
        "retryable": False,
    }
    assert services.calls == []


def test_a_bad_idempotency_key_is_a_422(client: TestClient) -> None:
    response = client.post("/v1/memory.set", json=ROW, headers={"Idempotency-Key": "k" * 256})
    assert (response.status_code, response.json()["detail"]["code"]) == (422, "bad_idempotency_key")


def test_an_unknown_op_is_a_404_that_names_the_nearest(client: TestClient) -> None:
    response = client.post("/v1/facts.travers", json={})
    assert response.status_code == 404
    assert "facts.traverse" in response.json()["detail"]["message"]


@pytest.mark.parametrize(
    "path", ["/v1/", "/v1/memory.set/", "/v1/../etc/passwd", "/v1/%00", "/v1/" + "x" * 5000]
)
def test_a_path_that_names_no_op_is_a_404(client: TestClient, path: str) -> None:
    response = client.post(path, json={})
    assert response.status_code == 404
    assert response.json()["detail"]["category"] == "not_found"


def test_another_method_is_a_405_that_says_which_one(client: TestClient) -> None:
    response = client.get("/v1/memory.set")
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert response.json()["detail"]["code"] == "method_not_allowed"


OVER_THE_CAP = [
    ("facts.traverse", WALK, "max_hops", 9, 4),
    ("facts.traverse", WALK, "top_k_per_hop", 101, 100),
    ("facts.traverse", WALK, "max_nodes", 10**30, 5000),
    ("facts.traverse", WALK, "hub_share", 1.5, 1.0),
    ("facts.traverse", WALK, "min_co_occur", 10**40, 2**63 - 1),
    ("facts.list", {}, "limit", 501, 500),
    ("facts.related", {"entity": "a"}, "top_k", 201, 200),
    ("facts.path", {"entity_a": "a", "entity_b": "b"}, "max_hops", 5, 4),
    ("facts.expire_by_adapter", {"adapter_name": "a"}, "max_confidence", 1.01, 1.0),
    ("memory.set", ROW, "confidence", 7, 1.0),
    ("memory.search", {"query": "a"}, "limit", 10_000, 500),
]


@pytest.mark.parametrize(("op", "body", "field", "given", "used"), OVER_THE_CAP)
def test_a_number_over_its_cap_is_clamped_and_named(
    client: TestClient,
    services: FakeServices,
    op: str,
    body: dict[str, Any],
    field: str,
    given: float,
    used: float,
) -> None:
    response = client.post(f"/v1/{op}", json=body | {field: given})
    assert response.status_code == 200
    assert getattr(services.asked, field) == used
    assert [
        line for line in response.json()["advisories"] if line.startswith(f"{field}:") and str(used) in line
    ]


def test_an_answer_without_anything_to_advise_has_no_advisories(client: TestClient) -> None:
    assert "advisories" not in client.post("/v1/facts.traverse", json=WALK).json()


def test_unknown_fields_are_served_and_named(client: TestClient, services: FakeServices) -> None:
    body = ROW | {
        "colour": "red",
        "relations": [{"subject": "a", "relation": "own", "object": "b", "since": 1}],
    }
    response = client.post("/v1/memory.set", json=body)
    assert response.status_code == 200
    assert sorted(response.json()["ignored_args"]) == ["colour", "relations[].since"]
    assert services.asked.relations[0].subject == "a"


def test_the_identity_is_known_to_every_op(client: TestClient, services: FakeServices) -> None:
    who = {"org": "o", "namespace": "n", "agent": "a", "user_id": "u", "session_id": "s"}
    answer = client.post("/v1/facts.traverse", json=WALK | who).json()
    assert "ignored_args" not in answer
    context = services.context
    assert (context.scope.org, context.scope.namespace) == ("o", "n")
    assert (context.agent, context.user_id, context.session_id) == ("a", "u", "s")


def test_an_unknown_field_with_a_name_that_no_encoding_carries_is_named_all_the_same(
    client: TestClient,
) -> None:
    response = client.post("/v1/memory.set", content=b'{"memory_key": "k", "value": 1, "\\ud800": 2}')
    assert response.json()["ignored_args"] == ["\\ud800"]


def test_a_bad_entry_of_a_bulk_call_is_refused_alone(client: TestClient, services: FakeServices) -> None:
    services.answer(
        "memory.set_many", lambda _, request: {"refused": [{"index": 3, "code": "c", "message": "m"}]}
    )
    entries = [
        ROW,
        {"memory_key": "k"},
        5,
        ROW | {"memory_key": "k2"},
        ROW | {"relations": [["a", "own", "b"]] * 9},
    ]
    refused = client.post("/v1/memory.set_many", json={"entries": entries}).json()["refused"]
    assert [index for index, _ in services.asked.accepted] == [0, 3]
    assert [item["index"] for item in refused] == [1, 2, 3, 4]
    assert "value" in refused[0]["message"] and "relations" in refused[3]["message"]
