"""An OpenAI-compatible chat server whose answers, delays and faults a test scripts.

    with LLMStub(answers=[Reply('{"entities": [], "relations": []}')]) as stub:
        ...  LOOM_LLM_API_BASE=stub.url, LOOM_LLM_MODEL=openai/stub

Scripted replies are used in order of arrival; when they run out, `default` answers. As a program
(`python tests/support/llm_stub.py --port 0 --latency 0.5`) it prints its URL and serves until it is ended.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

EMPTY = '{"entities": [], "relations": [], "facts": []}'


@dataclass(frozen=True)
class Reply:
    """One answer: `content` of the message, or an error with `status` and `message`; `hang_s` before it."""

    content: str | None = EMPTY
    status: int = 200
    finish_reason: str = "stop"
    message: str = "scripted failure"
    code: str | None = None
    retry_after_s: float | None = None
    hang_s: float = 0.0


Answer = Reply | Callable[[str], Reply]


@dataclass
class LLMStub:
    """Serves on a free loopback port while it is entered as a context.

    `default` is a reply, or a function from the text in the prompt's data block to one. `requests` holds the
    bodies received, `most_in_flight` the most calls that were open at once.
    """

    answers: Iterable[Answer] = ()
    default: Answer = Reply()
    latency_s: float = 0.0
    port: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    most_in_flight: int = 0

    def __post_init__(self) -> None:
        self._script = deque(self.answers)
        self._lock = threading.Lock()
        self._in_flight = 0
        self._closing = threading.Event()
        stub = self

        class Handler(_Handler):
            owner = stub

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

    @property
    def url(self) -> str:
        """The base URL, `/v1` included."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def script(self, *answers: Answer) -> None:
        """Add replies to be used before `default`."""
        with self._lock:
            self._script.extend(answers)

    def answer(self, body: dict[str, Any]) -> Reply:
        with self._lock:
            self.requests.append(body)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
            chosen = self._script.popleft() if self._script else self.default
        try:
            reply = chosen if isinstance(chosen, Reply) else chosen(data_block(body))
            self._closing.wait(self.latency_s + reply.hang_s)
            return reply
        finally:
            with self._lock:
                self._in_flight -= 1


def naming(text: str) -> Reply:
    """The words before and after `uses` are entities."""
    first, _, second = text.partition(" uses ")
    entities = [{"name": first, "type": "thing"}, {"name": second, "type": "thing"}]
    return Reply(json.dumps({"entities": entities, "relations": [], "facts": []}))


def with_llm(environment: dict[str, str], stub: LLMStub) -> None:
    """Has the processes of this environment ask `stub`."""
    environment |= {
        "LOOM_LLM_PROVIDER": "litellm",
        "LOOM_LLM_MODEL": "openai/stub",
        "LOOM_LLM_API_BASE": stub.url,
    }


def data_block(body: dict[str, Any]) -> str:
    """The text that a request asks about: what stands between the prompt's two marker lines."""
    content: str = body["messages"][-1]["content"]
    return content.split("\n", 1)[1].rsplit("\n", 1)[0]


class _Handler(BaseHTTPRequestHandler):
    owner: LLMStub
    protocol_version = "HTTP/1.1"
    # Headers and body in one packet: a second small one would wait 40 ms for the peer's delayed ACK.
    wbufsize = -1

    def do_GET(self) -> None:
        self._send(200, {"object": "list", "data": [{"id": "stub", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = self.owner.answer(body)
        if reply.status != 200:
            error = {"message": reply.message, "type": "stub", "code": reply.code}
            self._send(reply.status, {"error": error}, reply.retry_after_s)
            return
        message = {"role": "assistant", "content": reply.content}
        tokens_in = sum(len(m["content"]) for m in body["messages"]) // 4
        tokens_out = len(reply.content or "") // 4
        self._send(
            200,
            {
                "id": "stub",
                "object": "chat.completion",
                "created": int(time.time()),
                "model": body["model"],
                "choices": [{"index": 0, "finish_reason": reply.finish_reason, "message": message}],
                "usage": {
                    "prompt_tokens": tokens_in,
                    "completion_tokens": tokens_out,
                    "total_tokens": tokens_in + tokens_out,
                },
            },
        )

    def _send(self, status: int, body: dict[str, Any], retry_after_s: float | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if retry_after_s is not None:
            self.send_header("Retry-After", f"{retry_after_s:g}")
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the tests' output is theirs."""


def main() -> None:
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server with one scripted answer.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--content", default=EMPTY, help="the answer's text")
    parser.add_argument("--status", type=int, default=200)
    arguments = parser.parse_args()
    reply = Reply(arguments.content, status=arguments.status)
    with LLMStub(default=reply, latency_s=arguments.latency, port=arguments.port) as stub:
        print(stub.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
