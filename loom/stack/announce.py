"""Imported by a worker of `loom up` (`celery worker --include`): says when the worker takes messages.

Remote control is off in the fleet, so nobody can ask it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from celery import signals

from loom.stack.child import READY_FILE


def announce(**_: Any) -> None:
    """Make the file that whoever started the worker waits for."""
    Path(os.environ[READY_FILE]).touch()


if READY_FILE in os.environ:
    signals.worker_ready.connect(announce)
