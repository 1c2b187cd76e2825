"""Entities by name or number, and the 64-bit hashes that stand for them in a graph."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Entity = str | int


def hash_names(names: Iterable[str], seed: int = 0) -> NDArray[np.uint64]:
    """uint64[len(names)]: ClickHouse's `halfMD5(name)`; with a seed k > 0 `halfMD5(concat('k:', name))`.

    The same function on both sides, so that a partition of names and a partition of the hashes that the
    database computed are one partition.
    """
    return hash_entities(names, seed)


def hash_entities(entities: Iterable[Entity], seed: int = 0) -> NDArray[np.uint64]:
    """As `hash_names`; an integer is hashed as text that no name's UTF-8 can be."""
    prefix = f"{seed}:".encode() if seed else b""
    texts = (
        prefix + (name.encode("utf-8", "surrogatepass") if isinstance(name, str) else b"\xff%d" % name)
        for name in entities
    )
    digests = b"".join(hashlib.md5(text, usedforsecurity=False).digest()[:8] for text in texts)
    return np.frombuffer(digests, ">u8").astype(np.uint64)


class Names(Protocol):
    """The way back from hashes to entities."""

    def of(self, hashes: NDArray[np.uint64]) -> Sequence[Entity]:
        """The entities of these hashes, in their order."""

    def order(self, hashes: NDArray[np.uint64]) -> NDArray[np.integer]:
        """The indices that sort these hashes by entity."""


class Integers:
    """Integers, hashed by a bijection: none collide, and none has to be kept to find the way back."""

    def __init__(self, dtype: np.dtype[np.int64] | np.dtype[np.uint64]) -> None:
        self._dtype = dtype

    @staticmethod
    def hash(numbers: NDArray[np.int64] | NDArray[np.uint64]) -> NDArray[np.uint64]:
        """SplitMix64 of each."""
        mixed = numbers.view(np.uint64) + _STEP
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
        return mixed ^ (mixed >> np.uint64(31))

    def _numbers(self, hashes: NDArray[np.uint64]) -> NDArray[np.integer]:
        mixed = _unshift(hashes, 31) * _SECOND_INVERSE
        mixed = _unshift(mixed, 27) * _FIRST_INVERSE
        return (_unshift(mixed, 30) - _STEP).view(self._dtype)

    def of(self, hashes: NDArray[np.uint64]) -> Sequence[Entity]:
        numbers: list[int] = self._numbers(hashes).tolist()
        return numbers

    def order(self, hashes: NDArray[np.uint64]) -> NDArray[np.integer]:
        return np.argsort(self._numbers(hashes))


_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_FIRST_INVERSE = np.uint64(pow(int(_FIRST), -1, 1 << 64))
_SECOND_INVERSE = np.uint64(pow(int(_SECOND), -1, 1 << 64))


def _unshift(mixed: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    """The x of which `mixed` is x ^ (x >> bits)."""
    x = mixed
    for _ in range(63 // bits):
        x = mixed ^ (x >> np.uint64(bits))
    return x


class Dictionary:
    """Any entities, each kept beside its hash."""

    def __init__(self, entities: Sequence[Entity], hashes: NDArray[np.uint64]) -> None:
        """`hashes` are those of `entities`, no two alike."""
        by_hash = np.argsort(hashes)
        self._hashes = hashes[by_hash]
        self._entities = [entities[k] for k in by_hash.tolist()]

    def of(self, hashes: NDArray[np.uint64]) -> Sequence[Entity]:
        return [self._entities[k] for k in np.searchsorted(self._hashes, hashes).tolist()]

    def order(self, hashes: NDArray[np.uint64]) -> NDArray[np.integer]:
        entities = self.of(hashes)
        return np.array(sorted(range(len(entities)), key=lambda k: _sort_key(entities[k])), np.int64)


def _sort_key(entity: Entity) -> tuple[bool, int, str]:
    """Integers before names."""
    return (True, 0, entity) if isinstance(entity, str) else (False, entity, "")
