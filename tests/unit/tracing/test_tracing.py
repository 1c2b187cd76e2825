"""A call, its projection and the tick it wakes are one trace; without the setting nothing is imported."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from loom_core import tracing
from loom_core.settings import get_settings


def test_without_an_endpoint_nothing_is_imported() -> None:
    program = (
        "import sys; from loom_core import tracing\n"
        "with tracing.span('op', units=1): assert tracing.headers() == {}\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={"PATH": "/usr/bin:/bin"}, timeout=120)


@pytest.fixture
def collected(monkeypatch: Any) -> Iterator[list[tuple[str, bytes]]]:
    """What a collector on loopback was sent."""
    received: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Collector)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("LOOM_OTEL_ENDPOINT", f"http://127.0.0.1:{server.server_port}/")
    get_settings.cache_clear()
    tracing._tracer.cache_clear()
    yield received
    get_settings.cache_clear()
    tracing._tracer.cache_clear()
    server.shutdown()
    server.server_close()


def test_a_tick_continues_the_trace_of_the_call_that_woke_it(collected: list[tuple[str, bytes]]) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    with tracing.span("op memory.set", transport="http"), tracing.span("project", units=2):
        sent = dict(tracing.headers())
    assert tracing.headers() == {}
    with tracing.span("tick", sent["traceparent"], worker="projection_retry", shard=3):
        pass
    with tracing.span("tick", "not a traceparent"):
        pass
    provider: Any = tracing._tracer().span_processor  # type: ignore[union-attr]
    assert provider.force_flush(30_000)
    assert {path for path, _ in collected} == {"/v1/traces"}
    spans = {}
    for _, body in collected:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            assert {"service.name"} <= {each.key for each in resource.resource.attributes}
            for each in resource.scope_spans[0].spans:
                spans[each.name, bool(each.attributes)] = each
    call, projection, tick = (
        spans[name, True] for name in ("loom.op memory.set", "loom.project", "loom.tick")
    )
    assert call.trace_id == projection.trace_id == tick.trace_id
    assert projection.parent_span_id == call.span_id
    assert tick.parent_span_id == projection.span_id
    alone = spans["loom.tick", False]
    assert alone.trace_id != call.trace_id and not alone.parent_span_id


def test_an_error_in_a_span_stays_what_it_is_and_its_text_is_not_sent(
    collected: list[tuple[str, bytes]],
) -> None:
    with pytest.raises(ValueError, match="canary"), tracing.span("project", units=1):
        raise ValueError("canary of a value")
    processor: Any = tracing._tracer().span_processor  # type: ignore[union-attr]
    assert processor.force_flush(30_000)
    assert any(b"ValueError" in body for _, body in collected)
    assert not [body for _, body in collected if b"canary" in body]
