"""Planted secrets and the text of memories turn up nowhere but in the memories: no log, error, metric or failure row."""

from __future__ import annotations

from pathlib import Path

import httpx

from tests.support.llm_stub import LLMStub, Reply
from tests.support.stack import Stack, run_loom, running_stack

KEY, SECRET, TEXT = "sk-canary-4711", "canary-signing-secret-of-32-bytes-4711", "canary of a memory 4711"
CANARIES = (KEY, SECRET, TEXT)


def echo(text: str) -> Reply:
    """A provider that quotes the request, the key included, in its error."""
    return Reply(status=400, message=f"bad request: {text} for {KEY}", code="bad_request")


def test_what_is_secret_is_seen_by_nobody_who_operates(tmp_path: Path) -> None:
    with LLMStub(default=echo) as stub:
        environment = {
            "LOOM_LLM_PROVIDER": "litellm", "LOOM_LLM_MODEL": "openai/stub", "LOOM_LLM_API_BASE": stub.url,
            "LOOM_LLM_API_KEY": KEY, "LOOM_AUTH_SECRET": SECRET, "LOOM_ENTITY_EXTRACT_INTERVAL_S": "1",
            "LOOM_LOG_LEVEL": "debug", "LOOM_TESTING": "1", "LOOM_FAULT": "edges:insert:raise,entity_extractor:attempt:raise@raises",
        }  # fmt: skip
        with running_stack(tmp_path / "data", **environment) as stack:
            minted = run_loom("mint-token", "--org", "dev", "--role", "admin", LOOM_AUTH_SECRET=SECRET)
            assert minted.returncode == 0, minted.stderr
            token = minted.stdout.split()[-1]
            calls = (
                (
                    200,
                    token,
                    "memory.set",
                    {"memory_key": "fails", "entities": ["alpha service", "beta service"]},
                ),
                (200, token, "memory.set_many", {"entries": [{"memory_key": "asked", "value": TEXT}]}),
                (200, token, "memory.set_many", {"entries": [{"memory_key": "raises", "value": TEXT}]}),
                (422, token, "memory.set", {"memory_key": 7}),
                (422, token, "memory.set", {"memory_key": "bad", "relations": [[TEXT]]}),
                (401, token + KEY, "memory.set", {"memory_key": "k"}),
                (404, token, "no.such", {}),
            )
            answers = [ask(stack, who, op, {"value": TEXT} | fields) for _, who, op, fields in calls]
            assert [answer.status_code for answer in answers] == [status for status, *_ in calls]
            assert answers[0].json()["degraded"] == ["edges"]
            commands = [
                stack.loom("drain", "--timeout", "6"),
                stack.loom("failures", "list", "--json"),
                stack.loom("status"),
                stack.loom("doctor"),
            ]
            failures = httpx.post(
                stack.addresses()["clickhouse_url"],
                content="SELECT * FROM loom.memory_projection_failures FORMAT JSONEachRow",
            ).text
            assert "extraction" in failures
            assert "edges" in failures
            seen = {
                "errors": "".join(answer.text for answer in answers),
                "commands": "".join(done.stdout + done.stderr for done in commands),
                "failure rows": failures,
                "metrics": httpx.get(f"{stack.url}/metrics").text,
                "stack.json": (stack.folder / "stack.json").read_text(),
            }
        logs = [*(stack.folder / "logs").glob("*"), tmp_path / "data.err"]
        seen |= {path.name: path.read_text(errors="replace") for path in logs}
    assert stub.requests, "the model was asked"
    assert len(seen) > 8
    found = {
        (place, canary) for place, text in seen.items() for canary in (*CANARIES, token) if canary in text
    }
    assert not found


def ask(stack: Stack, token: str, op: str, fields: dict[str, object]) -> httpx.Response:
    body = {"org": "dev", "namespace": "secrets"} | fields
    return httpx.post(
        f"{stack.url}/v1/{op}", json=body, headers={"Authorization": f"Bearer {token}"}, timeout=60
    )
