"""The life of the fleet's processes: their log, and how each is asked to stop between two pieces of work."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import billiard
from celery import signals

from loom_core.settings import get_settings

STOP_SIGNAL = signal.SIGUSR2
stopping = threading.Event()
"""Set once this process was asked to stop: a tick begins no further batch."""


def connect_signals() -> None:
    """Connects to Celery's signals; connecting twice is connecting once."""
    signals.setup_logging.connect(_set_up_logging)
    signals.worker_process_init.connect(_listen)
    signals.worker_shutting_down.connect(_tell_pool)
    signals.beat_init.connect(_stop_between_entries)


def _set_up_logging(**_: Any) -> None:
    from loom_core.server.logs import configure

    configure(get_settings())


def _listen(**_: Any) -> None:
    signal.signal(STOP_SIGNAL, lambda *_: stopping.set())


def _tell_pool(**_: Any) -> None:
    """In the parent: a tick in a pool process may have 45 seconds of its budget left."""
    for child in billiard.active_children():
        try:
            os.kill(child.pid, STOP_SIGNAL)
        except ProcessLookupError:
            continue


def _stop_between_entries(sender: Any, **_: Any) -> None:
    """In a beat: Celery raises SystemExit from its handler, and a publish that it hits turns it into an error."""

    def stop(*_: Any) -> None:
        # Not from the handler itself, which may interrupt the log in the middle of a line.
        threading.Thread(target=sender.stop, daemon=True).start()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
