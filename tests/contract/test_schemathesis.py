"""Generated requests, good and bad, against the OpenAPI document: no answer that it does not declare."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import schemathesis
import structlog
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from loom_core.server import openapi
from loom_core.server.app import build_app
from loom_core.server.identity import FIELDS
from loom_core.server.registry import OPS
from loom_core.settings import Settings
from tests.support.fake_services import FakeServices

BETWEEN_FIELDS = (
    "ends before it starts",
    "names the row's own key",
    "is the same as from_key",
    "memory_key or memory_id is required",
    "goes with memory_key",
)
"""Rules that hold between fields: a JSON schema cannot say them, so a request that it allows may break one."""
JUDGES_EACH_ENTRY = ("POST /v1/memory.set_many", "POST /v1/memory.set_from_messages")
"""A bad entry of a bulk call is refused in the answer; the call itself stands."""

schemathesis.openapi.format(
    "date-time", st.datetimes(datetime(1900, 1, 1), datetime(2299, 1, 1)).map(lambda at: f"{at.isoformat()}Z")
)


NULL_IS_ABSENT = (*FIELDS, "relations", "attributes", "entity_filter")


def as_a_single_user_server_takes_it() -> dict[str, Any]:
    """The document as strict as the server: what it says is required of the identity, the server fills in."""
    document = openapi.document(tokens=False)
    for op in OPS:
        model = document["components"]["schemas"][op.request.__name__]
        model["required"] = [name for name in model["required"] if name not in FIELDS]
        for name in NULL_IS_ABSENT:
            if name in model["properties"]:
                model["properties"][name] = {"anyOf": [model["properties"][name], {"type": "null"}]}
    return document


schema = schemathesis.openapi.from_dict(as_a_single_user_server_takes_it())
schema.app = build_app(Settings(log_level="error"), FakeServices())


@schema.parametrize()
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_answer_that_the_document_does_not_declare(case: schemathesis.Case) -> None:
    with structlog.testing.capture_logs():
        response = case.call()
    excluded: list[Any] = []
    if any(rule in response.text for rule in BETWEEN_FIELDS):
        excluded.append(positive_data_acceptance)
    if case.operation.label in JUDGES_EACH_ENTRY:
        excluded.append(negative_data_rejection)
    case.validate_response(response, excluded_checks=excluded)
