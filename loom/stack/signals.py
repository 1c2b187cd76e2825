"""Signals of the supervisor: how often it was asked to stop, and a sleep that a signal ends."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType, TracebackType

_STOP = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Signals:
    """Active as a context. `stops` counts the requests to stop; the end of a child ends a sleep too."""

    def __init__(self) -> None:
        self.stops = 0

    def sleep(self, seconds: float) -> None:
        """Sleep at most so long."""
        if select.select([self._read_end], [], [], seconds)[0]:
            os.read(self._read_end, 4096)

    def __enter__(self) -> Signals:
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        os.set_blocking(self._write_end, False)
        self._old_wakeup = signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
        # Ignored from the start (nohup), the end of the terminal is not the end of the stack.
        heard = [number for number in _STOP if number != signal.SIGHUP or not _is_ignored(number)]
        self._old = {number: signal.signal(number, self._count) for number in heard}
        self._old[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_wakeup)
        os.close(self._read_end)
        os.close(self._write_end)

    def _count(self, _number: int, _frame: FrameType | None) -> None:
        self.stops += 1


def _is_ignored(number: signal.Signals) -> bool:
    return signal.getsignal(number) is signal.SIG_IGN
