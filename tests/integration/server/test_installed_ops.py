"""Every op over the installation's own services: the answers are the ops', and the user's example holds true."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from loom import Agent
from loom_core.server.app import build_app
from loom_core.server.examples import EXAMPLES
from loom_core.server.identity import FIELDS
from loom_core.server.registry import OPS
from loom_core.server.services import build
from loom_core.settings import Settings
from loom_core.storage.store import Store

Run = Callable[[Callable[[Agent], Any]], Any]


@pytest.fixture(scope="module")
def app(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.getbasetemp() / "clickhouse"
    return build_app(Settings(), build(Settings(clickhouse_url=f"chdb://{folder}")))


@pytest.fixture
def run(app: Any) -> Run:
    """Runs a conversation of one agent in a namespace of its own."""
    namespace = f"n-{uuid.uuid4().hex[:8]}"

    def converse(conversation: Callable[[Agent], Any]) -> Any:
        async def main() -> Any:
            async with Agent("dev", namespace, "sre-bot", transport=httpx.ASGITransport(app)) as agent:
                return await conversation(agent)

        return anyio.run(main)

    return converse


async def three_rows(agent: Agent) -> None:
    """The rows that the documented examples speak of, each in two versions, so that one can be restored."""
    for text in ("an earlier text", "The billing service reads invoices from the ledger database."):
        await agent.memory.set("billing/depends_on", text, entities=["billing service", "ledger database"])
        await agent.memory.set("ledger/outage", f"{text} down", entities=["ledger database", "ledger outage"])


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_an_op_answers_what_its_document_says(run: Run, op: Any) -> None:
    request, _ = EXAMPLES[op.name]
    arguments = {name: value for name, value in request.items() if name not in FIELDS}

    async def conversation(agent: Agent) -> Any:
        await three_rows(agent)
        return await getattr(getattr(agent, op.group), op.verb)(**arguments)

    answer = run(conversation)
    assert set(op.response.model_fields) == set(answer)


def test_the_users_example_finds_the_ledger_and_the_outage(run: Run) -> None:
    async def conversation(agent: Agent) -> tuple[Any, Any]:
        await three_rows(agent)
        walk = await agent.facts.traverse("billing service", max_hops=2, top_k_per_hop=10)
        return walk, await agent.facts.path("billing service", "ledger outage")

    walk, route = run(conversation)
    chains = ["billing service > ledger database", "billing service > ledger database > ledger outage"]
    assert [" > ".join(node["path"]) for node in walk["nodes"]] == chains
    assert (route["found"], route["path"]) == (True, chains[1].split(" > "))


def test_a_write_sent_again_under_its_key_gets_the_first_answer(app: Any) -> None:
    async def main() -> tuple[Any, Any, Any]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://loom") as http:
            body = {"namespace": "keys", "memory_key": "k", "value": 1}
            headers = {"Idempotency-Key": uuid.uuid4().hex}
            first = await http.post("/v1/memory.set", json=body, headers=headers)
            await http.post("/v1/memory.set", json=body | {"value": 2})
            again = await http.post("/v1/memory.set", json=body, headers=headers)
            now = await http.post("/v1/memory.get", json=body)
            return first.json(), again.json(), now.json()

    first, again, now = anyio.run(main)
    assert first == again
    assert now["value"] == 2, "a retry that came late does not write the old value again"
