"""Hashes to small integers: a table that grows, filled batch by batch."""

import numpy as np
from numpy.typing import NDArray

from loom_core.communities.compiled import compiled

SMALLEST_TABLE = 1 << 10
BLOCK = 1 << 16


class Interner:
    """Numbers 64-bit hashes 0, 1, 2 … in the order it first meets them.

    Open addressing with linear probing, at most half full; 12 bytes a slot.
    """

    def __init__(self) -> None:
        self._count = 0
        self._allocate(SMALLEST_TABLE)

    def _allocate(self, slots: int) -> None:
        self._keys = np.empty(slots, np.uint64)
        self._numbers = np.full(slots, -1, np.int32)
        self._shift = np.uint64(65 - slots.bit_length())

    def number(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The number of each hash, as int32[len(hashes)]."""
        numbers = np.empty(len(hashes), np.int32)
        for begin in range(0, len(hashes), BLOCK):
            # Copied, because numba would compile the loop once more for strided and for read-only arrays,
            # which a database's buffers are.
            block = np.array(hashes[begin : begin + BLOCK])
            self._number_block(block, numbers[begin : begin + BLOCK])
        return numbers

    def _number_block(self, hashes: NDArray[np.uint64], numbers: NDArray[np.int32]) -> None:
        done = 0
        while True:
            done, self._count = _number(
                hashes, numbers, done, self._keys, self._numbers, self._shift, self._count
            )
            if done == len(hashes):
                return
            self._grow()

    def hashes(self) -> NDArray[np.uint64]:
        """uint64[count]: the hash that got each number."""
        taken = self._numbers >= 0
        hashes = np.empty(self._count, np.uint64)
        hashes[self._numbers[taken]] = self._keys[taken]
        return hashes

    def _grow(self) -> None:
        known = self.hashes()
        self._allocate(2 * len(self._keys))
        _number(known, np.empty(len(known), np.int32), 0, self._keys, self._numbers, self._shift, 0)


@compiled
def _number(
    hashes: NDArray[np.uint64],
    numbers: NDArray[np.int32],
    done: int,
    keys: NDArray[np.uint64],
    key_numbers: NDArray[np.int32],
    shift: np.uint64,
    count: int,
) -> tuple[int, int]:
    """Number hashes[done:] until the table is half full; where it stopped, and how many hashes it holds."""
    last_slot = np.uint64(len(keys) - 1)
    room = len(keys) // 2
    for row in range(done, len(hashes)):
        key = hashes[row]
        # Fibonacci hashing: the product's high bits depend on all of the key, whichever of its bits differ.
        slot = (key * np.uint64(0x9E3779B97F4A7C15)) >> shift
        while key_numbers[slot] >= 0 and keys[slot] != key:
            slot = (slot + np.uint64(1)) & last_slot
        if key_numbers[slot] < 0:
            if count == room:
                return row, count
            keys[slot] = key
            key_numbers[slot] = count
            count += 1
        numbers[row] = key_numbers[slot]
    return len(hashes), count
