"""The life of the fleet's processes: their log, and how each is asked to stop between two pieces of work."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import billiard
from celery import signals

from loom_core.collector import collect_rarely
from loom_core.settings import get_settings

STOP_SIGNAL = signal.SIGUSR2
SOFT_LIMIT_SIGNAL = signal.SIGUSR1
"""What Celery sends to a pool process whose task has passed its soft time limit."""
stopping = threading.Event()
"""Set once this process was asked to stop: a tick begins no further batch."""


class OutOfTime(BaseException):
    """The tick passed its soft time limit.

    Not an `Exception`, as Celery's own is: what isolates one row's failure from the next would take it for that
    row's failure and go on.
    """


def connect_signals() -> None:
    """Connects to Celery's signals; connecting twice is connecting once."""
    signals.setup_logging.connect(_set_up_logging)
    signals.worker_process_init.connect(_listen)
    signals.worker_shutting_down.connect(tell_pool)
    signals.beat_init.connect(_stop_between_entries)


def _set_up_logging(**_: Any) -> None:
    from loom_core.server.logs import configure

    configure(get_settings())


def _listen(**_: Any) -> None:
    collect_rarely()
    signal.signal(STOP_SIGNAL, lambda *_: stopping.set())


def raise_at_soft_limit() -> None:
    """From now on the soft time limit raises `OutOfTime` here. Celery sets its handler after any hook of ours."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(SOFT_LIMIT_SIGNAL, _out_of_time)


def _out_of_time(*_: Any) -> None:
    raise OutOfTime


def tell_pool(**_: Any) -> None:
    """In a worker's parent process: a tick in a pool process may have 45 seconds of its budget left."""
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
