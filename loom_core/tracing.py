"""Traces from a request through its projection to a worker's tick, sent by OTLP where LOOM_OTEL_ENDPOINT is set.

Without it every function here does nothing and OpenTelemetry (extra `tracing`) is not imported. Spans carry names
and counts: never a key, a value or a tenant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from loom_core.errors import Invalid
from loom_core.settings import get_settings

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

TRACEPARENT = "traceparent"
"""The header of W3C Trace Context: ids only, so a message with it still carries no data."""


@contextmanager
def span(name: str, parent: str | None = None, **attributes: str | int) -> Iterator[None]:
    """Times the block as a span under the current one, or under `parent`, a `traceparent` that came with a message.

    A malformed parent is left out. Raises `Invalid` where the endpoint is set and the extra is not installed.
    """
    tracer = _tracer()
    if tracer is None:
        yield
        return
    from opentelemetry.trace import StatusCode
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    context = TraceContextTextMapPropagator().extract({TRACEPARENT: parent}) if parent else None
    # An error's text may hold a value: only its class is sent.
    with tracer.start_as_current_span(
        f"loom.{name}", context, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield
        except BaseException as error:
            current.set_status(StatusCode.ERROR, type(error).__name__)
            raise


def headers() -> Mapping[str, str]:
    """The headers by which a message names the current span; empty without one."""
    if _tracer() is None:
        return {}
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    found: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(found)
    return found


@cache
def _tracer() -> Tracer | None:
    """This process's tracer, made at the first span and therefore after the process was spawned."""
    endpoint = get_settings().otel_endpoint
    if endpoint is None:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise Invalid("no_tracing", "LOOM_OTEL_ENDPOINT is set: install the extra `tracing`") from error
    # OTEL_SERVICE_NAME, OpenTelemetry's own variable, tells processes apart.
    resource = Resource({"service.name": "loom"}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource)
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider.get_tracer("loom")
