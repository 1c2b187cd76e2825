"""Random histories of one namespace, written by processes that die, freeze, fail and come back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st
from pydantic import ValidationError

from loom_core import clock, faults
from loom_core.clock import DAY, SECOND, micros
from loom_core.errors import Invalid
from loom_core.faults import InjectedFault
from loom_core.graph.handover import Statement
from loom_core.projection.inputs import read_keys
from loom_core.recovery.closes import replay_batch
from loom_core.recovery.retry import retry_batch
from tests.support.histories import Event, History, Row
from tests.support.world import World

KEYS = ("k1", "k2", "k3")
CITIES = ("london", "paris", "rome")
BASE = micros(datetime.fromisoformat("2050-01-03"))
"""Later than anything the store itself dates, so that one clock serves."""
HOUR = 3600 * SECOND


@dataclass(frozen=True)
class Said:
    """A city, its own dates, its tense."""

    city: str
    since: int | None
    until: int | None
    past: bool


@dataclass(frozen=True)
class Step:
    """One call. `trouble` befalls its process at the `point`-th marked point that it reaches, if it comes so far."""

    kind: str
    key: str
    after: int
    said: tuple[Said, ...]
    valid_at: int | None
    valid_to: int | None
    supersedes: tuple[str, ...]
    pick: int
    trouble: str
    point: int


dates = st.builds(
    lambda day, hour: BASE + day * DAY + hour * HOUR, st.integers(-3, 6), st.sampled_from((0, 9))
)
maybe_dates = st.one_of(st.none(), st.none(), dates)
kinds = ("set", "set", "set", "set", "update", "restore", "restore", "delete", "erase", "work")
steps = st.builds(
    Step,
    kind=st.sampled_from(kinds),
    key=st.sampled_from(KEYS),
    after=st.sampled_from((1, 2, HOUR, DAY, 2 * DAY)),
    said=st.lists(
        st.builds(Said, st.sampled_from(CITIES), maybe_dates, maybe_dates, st.booleans()), max_size=3
    ).map(tuple),
    valid_at=maybe_dates,
    valid_to=st.one_of(st.none(), maybe_dates),
    supersedes=st.lists(st.sampled_from(KEYS), max_size=1).map(tuple),
    pick=st.integers(0, 5),
    trouble=st.sampled_from(("", "", "killed", "frozen", "fails")),
    point=st.integers(1, 40),
)


class Killed(BaseException):
    """The process is gone: nothing of it runs on, and nothing in it may catch this."""


@dataclass
class Troubled:
    """Makes steps happen in a namespace, each in a process of its own as far as locks and caches go."""

    world: World
    now: int = BASE
    made: int = 0
    frozen: list[tuple[threading.Event, threading.Thread]] = field(default_factory=list)

    def process(self) -> World:
        return World(self.world.store, self.world.settings, self.world.scope)

    def make(self, steps: list[Step]) -> None:
        """All steps; a frozen process wakes after the step that follows it. Then the workers see to the rest."""
        with patch.object(clock, "now", lambda: self.now):
            for step in steps:
                self.now += step.after
                self.made += 1
                sleepers, self.frozen = self.frozen, []
                self._befall(step, lambda step=step: self._do(step))
                self._wake(sleepers)
            self._wake(self.frozen)
            self.now += DAY
            for _ in range(100):
                if not self._work():
                    return
        raise AssertionError("the workers never come to an end")

    def _wake(self, sleepers: list[tuple[threading.Event, threading.Thread]]) -> None:
        for resume, thread in sleepers:
            resume.set()
            thread.join()

    def _befall(self, step: Step, work: Callable[[], object]) -> None:
        if step.trouble == "frozen":
            self._freeze(step.point, work)
            return
        error = {"killed": Killed, "fails": InjectedFault}.get(step.trouble)
        with self._at_point(step.point, error):
            try:
                work()
            except (Killed, InjectedFault):
                assert error is not None

    @contextmanager
    def _at_point(self, point: int, error: type[BaseException] | None) -> Iterator[None]:
        seen = 0
        this = threading.get_ident()

        def reach(*_: str) -> None:
            nonlocal seen
            if threading.get_ident() == this:
                seen += 1
                if seen == point and error is not None:
                    raise error("at a marked point")

        with patch.object(faults, "reach", reach):
            yield

    def _freeze(self, point: int, work: Callable[[], object]) -> None:
        """Runs `work` in a thread until it reaches the point; it goes on when woken."""
        there, resume, seen = threading.Event(), threading.Event(), 0
        before = faults.reach

        def body() -> None:
            try:
                work()
            finally:
                there.set()

        thread = threading.Thread(target=body)

        def reach(part: str, step: str) -> None:
            nonlocal seen
            if threading.current_thread() is not thread:
                before(part, step)
                return
            seen += 1
            if seen == point:
                there.set()
                resume.wait()

        with patch.object(faults, "reach", reach):
            thread.start()
            there.wait()
        self.frozen.append((resume, thread))

    def _do(self, step: Step) -> None:
        with suppress(ValidationError, Invalid):  # a write that is refused, for its dates, is no input
            self._call(self.process(), step)

    def _call(self, world: World, step: Step) -> None:
        if step.kind == "work":
            self._work()
        elif step.kind in ("set", "update"):
            self._write(world, step)
        elif versions := world.history(step.key):
            if step.kind == "restore":
                world.restore(step.key, version=step.pick % len(versions) + 1)
            else:
                getattr(world, step.kind)(step.key)

    def _write(self, world: World, step: Step) -> None:
        start = self.now if step.valid_at is None else step.valid_at
        relations = [relation(each, verb) for verb in ("live_in", "use") for each in step.said]
        named: dict[str, Any] = {"relations": relations}
        if step.valid_to is None or start < step.valid_to:
            named |= {"valid_at": instant(step.valid_at), "valid_to": instant(step.valid_to)}
        value, cities = f"version {self.made}", ["acme", *dict.fromkeys(each.city for each in step.said)]
        if step.kind == "update" and world.get(step.key).found:
            world.update(step.key, value=value, entities=cities, **named)
        else:
            others = [key for key in step.supersedes if key != step.key]
            named = {name: each for name, each in named.items() if each is not None}
            world.set(step.key, value, cities, named.pop("relations"), supersedes=others, **named)

    def _work(self) -> bool:
        """One batch of each worker; whether there was anything."""
        store, scope, settings = self.world.store, self.world.scope, self.world.settings
        handled = [retry_batch(store, scope, settings), replay_batch(store, scope, settings)]
        return any(each.done or each.failed or each.more for each in handled)


def relation(said: Said, verb: str) -> dict[str, Any]:
    """As a writer states it."""
    if said.past:
        verb = {"live_in": "lived_in", "use": "used"}[verb]
    return {
        "subject": "user", "relation": verb, "object": said.city,
        "valid_from": instant(said.since), "valid_to": instant(said.until),
    }  # fmt: skip


def instant(micros: int | None) -> str | None:
    """As a request names it."""
    return None if micros is None else clock.instant(micros).isoformat()


def landed(world: World) -> History:
    """What landed, with what each row says of where the user lives: the rows are the truth."""
    history = History()
    for key, each in read_keys(world.store, world.scope, KEYS).items():
        for row in each.rows:
            statements = tuple(
                Statement(
                    row.memory_id,
                    position,
                    said.object,
                    said.valid_from,
                    said.valid_to,
                    said.relation == "lived_in",
                )
                for position, said in enumerate(row.stated_relations())
                if said.relation in ("live_in", "lived_in")
            )
            history.rows.append(
                Row(key, row.memory_id, row.arrival, row.valid_at, row.valid_to, statements, tuple(row.supersedes))
            )  # fmt: skip
        for event in each.events:
            if event.kind in ("delete", "restore"):
                memory_id = event.memory_id if event.kind == "restore" else ""
                history.events.append(Event(event.event_id, key, event.kind, event.at, memory_id))
    return history
