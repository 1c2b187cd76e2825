"""Which error means what for the text that met it."""

import pytest

from loom_core.extraction.llm.failures import ContextOverflow, classify
from loom_core.extraction.outcomes import Permanent, Retry


def error(name: str, status: int | None, message: str = "boom") -> Exception:
    raised = type(name, (Exception,), {})(f"litellm.{name}: {message}")
    raised.status_code = status
    return raised


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("RateLimitError", 429, "slow down"),
        ("ServiceUnavailableError", 503, "busy"),
        ("BadGatewayError", 502, "bad gateway"),
        ("APIConnectionError", 500, "gone"),
        ("InternalServerError", 500, "OpenAIException - Connection error."),
    ],
)
def test_a_rate_limit_and_an_outage_are_no_try_of_the_row(name, status, message):
    outcome = classify(error(name, status, message))
    assert isinstance(outcome, Retry) and outcome.counts is False


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("InternalServerError", 500, "The model produced invalid content. Consider modifying your prompt."),
        ("Timeout", 408, "Request timed out."),
        ("ValueError", None, "anything"),
    ],
)
def test_what_may_be_the_texts_own_doing_counts(name, status, message):
    outcome = classify(error(name, status, message))
    assert isinstance(outcome, Retry) and outcome.counts is True


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("AuthenticationError", 401, "Incorrect API key provided"),
        ("PermissionDeniedError", 403, "no"),
        ("APIError", 403, "no"),
        ("NotFoundError", 404, "The model `gpt-9` does not exist"),
        ("BadRequestError", 400, "The model `gpt-9` does not exist"),
        (
            "BadRequestError",
            400,
            "LLM Provider NOT provided. Pass in the LLM provider you are trying to call.",
        ),
        ("BadRequestError", 400, "'response_format' of type 'json_schema' is not supported with this model"),
        ("InternalServerError", 500, "OpenAIException - Missing credentials. Please pass an `api_key`"),
        ("RateLimitError", 429, "You exceeded your current quota, please check your plan"),
    ],
)
def test_a_wrong_setup_stops_everything(name, status, message):
    outcome = classify(error(name, status, message))
    assert isinstance(outcome, Permanent) and outcome.stops_all


@pytest.mark.parametrize(
    ("name", "status"),
    [("BadRequestError", 400), ("ContentPolicyViolationError", 400), ("UnprocessableEntityError", 422)],
)
def test_a_refused_text_is_given_up_alone(name, status):
    outcome = classify(error(name, status))
    assert isinstance(outcome, Permanent) and not outcome.stops_all


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("ContextWindowExceededError", 400, "too long"),
        ("BadRequestError", 400, "This model's maximum context length is 4097 tokens"),
        ("BadRequestError", 400, "request (5031 tokens) exceeds the available context size (4096 tokens)"),
        ("APIError", 413, "payload too large"),
    ],
)
def test_a_text_that_is_too_long_is_to_be_split(name, status, message):
    with pytest.raises(ContextOverflow):
        classify(error(name, status, message))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after": "2"}, 2.0), ({"Retry-After": "0.5"}, 0.5), ({"retry-after": "Fri, 01 Jan 2027 00:00:00 GMT"}, None),
     ({}, None), (None, None), ({"retry-after": "-3"}, 0.0)],
)  # fmt: skip
def test_the_providers_wait_is_passed_on(headers, seconds):
    outcome = classify(error("RateLimitError", 429), headers)
    assert isinstance(outcome, Retry) and outcome.retry_after_s == seconds


def test_only_the_first_line_of_an_error_is_kept():
    outcome = classify(error("Timeout", 408, "timed out\nthe whole prompt follows"))
    assert "prompt" not in outcome.message
