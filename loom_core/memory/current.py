"""Which version of a key is read: the latest, unless an Undo put an earlier one back or it was deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loom_core.graph.lifecycle import RowHistory
from loom_core.memory.rows import MemoryRow
from loom_core.projection.inputs import KeyInputs, read_keys
from loom_core.projection.plan import current_id, default_restore_target, histories_of
from loom_core.storage.store import Store
from loom_core.tenancy import Scope


@dataclass(frozen=True, slots=True)
class KeyState:
    """A key as it stands: its versions in the order they arrived, their lives, the one that is read."""

    inputs: KeyInputs
    histories: dict[str, RowHistory]
    current: MemoryRow | None

    def number(self, memory_id: str) -> int:
        """The version number: its place by arrival, from 1."""
        return next(i for i, row in enumerate(self.inputs.rows, 1) if row.memory_id == memory_id)

    def live(self) -> bool:
        """Whether the version that is read is neither deleted nor superseded by another key."""
        return self.current is not None and self.histories[self.current.memory_id].live

    def restore_target(self, values_current: bool) -> str | None:
        """The version that an Undo without a target brings back (D12); None where nothing is earlier."""
        return default_restore_target(self.inputs, values_current)


def state_of(inputs: KeyInputs) -> KeyState:
    """The state that a key's inputs make."""
    if not inputs.rows:
        return KeyState(inputs, {}, None)
    id_ = current_id(inputs)
    row = next((row for row in inputs.rows if row.memory_id == id_), None)
    return KeyState(inputs, dict(histories_of(inputs)), row)


def read_state(store: Store, scope: Scope, memory_key: str) -> KeyState:
    """The state of one key."""
    return state_of(read_keys(store, scope, [memory_key])[memory_key])


def current_rows(store: Store, scope: Scope, keys: Sequence[str]) -> dict[str, MemoryRow]:
    """The version that is read of each key that has one, deleted ones left out."""
    found = {}
    for key, inputs in read_keys(store, scope, keys).items():
        state = state_of(inputs)
        if state.current is not None and state.histories[state.current.memory_id].status != "deleted":
            found[key] = state.current
    return found
