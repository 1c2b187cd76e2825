"""A git repository with a long, varied history that is the same each time: something to import."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path

STARTED = 1_700_000_000
COMPONENTS = ("Redis transport", "memory transport", "connection pool", "message serializer", "consumer group",
              "SQS queue", "event loop", "retry policy")  # fmt: skip
DEEDS = (
    "Fix {0}: it uses the {1} after a reconnect\n\nReported by Anna. The {0} now depends on the {1}.",
    "Add `max_retries` to the {0}\n\nThe {1} reads the {0} of the worker process.",
    "The {0} raises error:`Timeout` no more when the {1} is slow",
    "Revert \"Teach the {0} to read the {1}\"\n\nThis broke the build server: 3 of 20 tests failed.",
    "{0}: rename parse_config() to load_config(); {1} calls it\n\nSee commit:9f3ab21.",
)  # fmt: skip


def messages() -> Iterator[str]:
    """320 commit messages: titles, bodies, code, names, an empty line or two."""
    for number, (deed, one, other) in enumerate(product(DEEDS, COMPONENTS, COMPONENTS)):
        yield deed.format(one, other) + (f"\n\nCloses ticket {number}." if number % 7 == 0 else "")


def make_repository(folder: Path) -> list[str]:
    """Writes the history into a new repository at `folder`; returns the commits' hashes, oldest first."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    stream = b""
    for number, message in enumerate(messages(), 1):
        text, content = message.encode(), b"%d\n" % number
        stream += b"commit refs/heads/main\nmark :%d\n" % number
        stream += b"committer Dev <dev@example.invalid> %d +0000\n" % (STARTED + number * 43_200)
        stream += b"data %d\n%s\n" % (len(text), text)
        stream += b"from :%d\n" % (number - 1) if number > 1 else b""
        stream += b"M 100644 inline last\ndata %d\n%s\n" % (len(content), content)
    subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet"], input=stream, check=True)
    listed = subprocess.run(
        ["git", "-C", str(folder), "rev-list", "--reverse", "main"],
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.split()
