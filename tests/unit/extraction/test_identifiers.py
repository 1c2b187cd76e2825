"""Names that are not words."""

import pytest

from loom_core.extraction.local.identifiers import kind_of


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ("commit:9f3ab21", "commit"),
        ("error:Timeouts", "error"),
        ("error:db/Pool-2", "error"),
        ("ConnectionError", "error"),
        ("redis.exceptions.TimeoutError", "error"),
        ("parse_config()", "call"),
        ("Channel.close()", "call"),
        ("run(args)", "call"),
        ("celery[redis]", "package"),
        ("DATABASE_URL", "variable"),
        ("--no-fleet", "option"),
        ("/etc/hosts", "path"),
        ("./run.sh", "path"),
        ("kombu/transport/redis.py", "path"),
        ("setup.py", "file"),
        ("docker-compose.yml", "file"),
        ("snake_case", "name"),
        ("__init__", "name"),
        ("kombu.transport.redis", "name"),
        ("RabbitMQ", "name"),
        ("SimpleQueue", "name"),
        ("maxRetries", "name"),
        ("1.26.3", "version"),
        ("v2.0rc1", "version"),
    ],
)
def test_an_identifier_has_a_kind(token, kind):
    assert kind_of(token) == kind


@pytest.mark.parametrize(
    "token",
    ["redis", "Redis", "API", "word.", "and/or", "e.g.", "error:", "Error", "commit:", "commit:xyz", "user's", "x",
     "3", "2025", "U.S.", "well-known", "...", "()", "-", "--", "c++", "北京"],
)  # fmt: skip
def test_a_word_is_none(token):
    assert kind_of(token) is None
