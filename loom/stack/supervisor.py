"""Keeps children running: starts them in order, restarts those that die, ends all in the reverse order."""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from loom.stack.child import Child, ChildSpec, last_lines, rotate
from loom.stack.guard import Guard
from loom.stack.parenthood import adopt_orphans, reap_orphans
from loom.stack.signals import Signals

DEATHS_AT_MOST = 5
DEATHS_WITHIN_S = 60.0
_FIRST_DELAY_S = 0.5
_LONGEST_DELAY_S = 8.0
_PROBE_EVERY_S = 0.1
_LOOK_EVERY_S = 1.0
_LOG_LINES_SHOWN = 8


class ChildFailed(Exception):
    """A child could not be started, or ended for good. The message names it, its exit code and its log."""


class StopRequested(Exception):
    """The supervisor was asked to stop."""


class Supervisor:
    """The children of one stack. Single-threaded; use within an active `Signals`.

    `say` tells a person what happens.
    """

    def __init__(self, guard: Guard, signals: Signals, logs: Path, say: Callable[[str], None]) -> None:
        self._guard = guard
        self._signals = signals
        self._logs = logs
        self._say = say
        self._changed: Callable[[], None] = lambda: None
        self._slots: dict[str, _Slot] = {}
        logs.mkdir(parents=True, exist_ok=True)
        adopt_orphans()

    def pids(self) -> dict[str, int]:
        """The process ids of the children that run, by name."""
        return {name: slot.child.pid for name, slot in self._slots.items() if slot.child is not None}

    def when_changed(self, changed: Callable[[], None]) -> None:
        """Call `changed` now, and whenever a child has been started again."""
        self._changed = changed
        changed()

    def start(self, specs: Sequence[ChildSpec]) -> None:
        """Start children together and wait until each is ready; those started before are kept running.

        Raises `ChildFailed` where one ends or is not ready in time: then none of them runs; `StopRequested`.
        """
        starting = [self._launch(_Slot(spec)) for spec in specs]
        started = time.monotonic()
        waiting = specs
        try:
            while waiting:
                self._look(pause_s=_PROBE_EVERY_S, besides=specs)
                for spec, child in zip(specs, starting, strict=True):
                    if (code := child.exit_code()) is not None:
                        raise self._failure(spec, f"{_described(code)} before it was ready")
                waiting = [spec for spec in waiting if not spec.is_ready()]
                for spec in waiting:
                    if time.monotonic() - started > spec.start_timeout_s:
                        raise self._failure(spec, f"was not ready after {spec.start_timeout_s:g} s")
        except ChildFailed:
            self.stop([spec.name for spec in specs])
            raise

    def run(self, spec: ChildSpec) -> None:
        """Run a child to its end, which must be 0 within its start timeout, beside the others.

        Raises `ChildFailed`, `StopRequested`.
        """
        child = self._launch(_Slot(spec))
        deadline = time.monotonic() + spec.start_timeout_s
        while (code := child.exit_code()) is None:
            self._look(pause_s=_PROBE_EVERY_S, besides=[spec])
            if time.monotonic() > deadline:
                raise self._failure(spec, f"was not done after {spec.start_timeout_s:g} s")
        self.stop([spec.name])
        if code != 0:
            raise self._failure(spec, _described(code))

    def watch(self) -> None:
        """Keep all children running. Raises `StopRequested`, and `ChildFailed` where one ends for good."""
        while True:
            self._look(pause_s=_LOOK_EVERY_S)

    def stop(self, names: Collection[str] | None = None) -> bool:
        """End the named children, or all, the last started role first.

        A second request to stop kills what is left. False where something had to be killed.
        """
        clean = True
        slots = [slot for name, slot in self._slots.items() if names is None or name in names]
        for role in reversed(list(dict.fromkeys(slot.spec.role for slot in slots))):
            children = [slot.child for slot in slots if slot.spec.role == role and slot.child is not None]
            clean = self._end(children) and clean
        for slot in slots:
            del self._slots[slot.spec.name]
        return clean

    def _end(self, children: list[Child]) -> bool:
        started = time.monotonic()
        killed: set[Child] = set()
        for child in children:
            if child.exit_code() is None:
                child.terminate()
        while left := [child for child in children if child.exit_code() is None]:
            for child in left:
                too_long = time.monotonic() - started > child.spec.stop_timeout_s
                if child not in killed and (too_long or self._signals.stops > 1):
                    reason = f"it did not end in {child.spec.stop_timeout_s:g} s" if too_long else "as asked"
                    self._say(f"{child.spec.name} is killed: {reason}")
                    child.kill()
                    killed.add(child)
            self._signals.sleep(_PROBE_EVERY_S)
        for child in children:
            self._guard.remove(child.pid)
        return not killed

    def _look(self, pause_s: float, besides: Iterable[ChildSpec] = ()) -> None:
        """One turn: notice the dead, start those whose pause is over, keep the logs short, pause."""
        if self._signals.stops:
            raise StopRequested
        apart = {spec.name for spec in besides}
        for slot in list(self._slots.values()):
            if slot.child is not None:
                rotate(slot.child.log)
            if slot.spec.name in apart:
                continue
            if slot.child is not None and (code := slot.child.exit_code()) is not None:
                self._guard.remove(slot.child.pid)
                slot.child = None
                self._bury(slot, code)
            if slot.child is None and time.monotonic() >= slot.restart_at:
                self._say(f"{slot.spec.name} is started again (pid {self._launch(slot).pid})")
                self._changed()
        reap_orphans({self._guard.pid, *self.pids().values()})
        self._signals.sleep(pause_s)

    def _bury(self, slot: _Slot, code: int) -> None:
        now = time.monotonic()
        slot.deaths.append(now)
        while now - slot.deaths[0] > DEATHS_WITHIN_S:
            slot.deaths.popleft()
        if len(slot.deaths) >= DEATHS_AT_MOST:
            times = f"{DEATHS_AT_MOST} times within {DEATHS_WITHIN_S:g} s"
            raise self._failure(slot.spec, f"{_described(code)}, {times}")
        delay = min(_FIRST_DELAY_S * 2 ** (len(slot.deaths) - 1), _LONGEST_DELAY_S)
        slot.restart_at = now + delay
        self._say(
            f"{slot.spec.name} {_described(code)}; started again in {delay:g} s; log: {self._log(slot.spec)}"
        )

    def _launch(self, slot: _Slot) -> Child:
        self._slots[slot.spec.name] = slot
        slot.child = Child(slot.spec, self._log(slot.spec))
        self._guard.add(slot.child.pid)
        return slot.child

    def _log(self, spec: ChildSpec) -> Path:
        return self._logs / f"{spec.name}.log"

    def _failure(self, spec: ChildSpec, what: str) -> ChildFailed:
        log = self._log(spec)
        lines = "".join(f"\n    {line}" for line in last_lines(log, _LOG_LINES_SHOWN))
        return ChildFailed(f"{spec.name} {what}; log: {log}{lines}")


class _Slot:
    """A child's place: its spec, the process that fills it now, and its deaths of late."""

    def __init__(self, spec: ChildSpec) -> None:
        self.spec = spec
        self.child: Child | None = None
        self.deaths: deque[float] = deque()
        self.restart_at = 0.0


def _described(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
