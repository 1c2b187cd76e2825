"""Only what stands is found: the current version of a key, if nothing deleted or superseded it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from loom_core.memory.current import state_of
from loom_core.memory.rows import MemoryRow
from loom_core.projection.inputs import read_keys
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

FIRST_PAGE = 50


class Candidate(Protocol):
    """A row that may be found, by the versions of it that match; with none named, any version does."""

    @property
    def memory_key(self) -> str: ...

    @property
    def memory_ids(self) -> Sequence[str]: ...


C = TypeVar("C", bound=Candidate)


def live_rows(store: Store, scope: Scope, keys: Iterable[str]) -> dict[str, MemoryRow]:
    """The current version of each key that is neither deleted nor superseded, by its key or another."""
    states = {key: state_of(inputs) for key, inputs in read_keys(store, scope, keys).items()}
    return {key: state.current for key, state in states.items() if state.current and state.live()}


def first_live(
    store: Store, scope: Scope, pages: Iterable[Sequence[C]], limit: int
) -> list[tuple[C, MemoryRow]]:
    """The first `limit` candidates whose live version matched, each key once, in the order of the pages."""
    found: dict[str, tuple[C, MemoryRow]] = {}
    for page in pages:
        rows = live_rows(store, scope, {candidate.memory_key for candidate in page})
        for candidate in page:
            row = rows.get(candidate.memory_key)
            if row and (not candidate.memory_ids or row.memory_id in candidate.memory_ids):
                found.setdefault(row.memory_key, (candidate, row))
            if len(found) == limit:
                return list(found.values())
    return list(found.values())


def pages(fetch: Callable[[int, int], Sequence[C]], limit: int) -> Iterator[Sequence[C]]:
    """Pages of a query that takes an offset and a size, each twice the last, until one is not full."""
    offset, size = 0, max(FIRST_PAGE, 2 * limit)
    while page := fetch(offset, size):
        yield page
        if len(page) < size:
            return
        offset, size = offset + size, 2 * size


def shown_value(row: MemoryRow) -> Any:
    """The row's value; of a high-sensitivity row None: the graph shows "never its text"."""
    return None if row.sensitivity == "high" else json.loads(row.value)
