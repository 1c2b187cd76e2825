"""A caller's columns of entities and weights, as arrays."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loom_core.communities.building import HashCollision
from loom_core.communities.names import Dictionary, Entity, Integers, Names, hash_entities

LARGEST_EXACT_FLOAT = 1 << 53
SEEDS = range(8)
"""Two of ten million names share a hash once in 300,000 graphs: then all are hashed with the next seed."""

Column = NDArray[np.int64] | NDArray[np.uint64] | list[Entity]
Hash = Callable[[Iterable[Entity], int], NDArray[np.uint64]]


def hashed_ends(
    sources: Sequence[Entity] | NDArray[Any], targets: Sequence[Entity] | NDArray[Any]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], Names]:
    """Both columns as hashes, and the way back. Columns of integers never become Python objects.

    Raises ValueError, naming the column, for entities that are neither strings nor integers.
    """
    a, b = _entities("sources", sources), _entities("targets", targets)
    integers = _as_one_type(a, b)
    if integers is not None:
        a, b = integers
        return Integers.hash(a), Integers.hash(b), Integers(a.dtype)
    return _hash_by_dictionary(_as_list(a), _as_list(b))


def whole_weights(weights: Sequence[int] | NDArray[Any]) -> NDArray[np.integer]:
    """The column as an array of integers; floats that are whole numbers will do.

    Raises ValueError for anything else.
    """
    column = np.asarray(weights)
    if column.ndim != 1:
        raise ValueError(f"weights: one dimension is needed, not {column.ndim}")
    if column.dtype.kind == "f" and bool(np.all(np.abs(column) <= LARGEST_EXACT_FLOAT)):
        whole = column.astype(np.int64)
        if np.array_equal(whole, column):
            return whole
    if column.dtype.kind not in "iu":
        raise ValueError(f"weights: integers up to 2**62 are needed, not {column.dtype}")
    return column


def _entities(field: str, values: Sequence[Entity] | NDArray[Any]) -> Column:
    if hasattr(values, "__array__"):
        array = np.asarray(values)
        if array.ndim != 1:
            raise ValueError(f"{field}: one dimension is needed, not {array.ndim}")
        if array.dtype.kind in "iu":
            if array.dtype == np.uint64:
                return array.astype(np.uint64, copy=False)  # the cast also swaps a foreign byte order
            return array.astype(np.int64, copy=False)
        values = array.tolist()
    entities: list[Any] = list(values)
    kinds = set(map(type, entities))
    for kind in kinds:
        if not issubclass(kind, (str, int, np.integer)) or issubclass(kind, bool):
            row = next(row for row, entity in enumerate(entities) if type(entity) is kind)
            raise ValueError(f"{field}: an entity is a string or an integer, not {kind.__name__} (row {row})")
    if not any(issubclass(kind, str) for kind in kinds):
        try:
            return np.array(entities, np.int64)
        except OverflowError:
            pass
    return entities


def _as_one_type(
    a: Column, b: Column
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | tuple[NDArray[np.uint64], NDArray[np.uint64]] | None:
    """Both columns as integers of one type, where they are integers and one type holds them all."""
    if isinstance(a, list) or isinstance(b, list):
        return None
    if all(column.dtype == np.int64 or column.max(initial=0) <= np.iinfo(np.int64).max for column in (a, b)):
        return a.astype(np.int64, copy=False), b.astype(np.int64, copy=False)
    if all(column.min(initial=0) >= 0 for column in (a, b)):
        return a.astype(np.uint64, copy=False), b.astype(np.uint64, copy=False)
    return None


def _as_list(column: Column) -> list[Entity]:
    return column if isinstance(column, list) else list(column.tolist())


def _hash_by_dictionary(
    sources: list[Entity], targets: list[Entity], hashed: Hash = hash_entities
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], Names]:
    numbers: dict[Entity, int] = {}
    ends = np.fromiter(
        (numbers.setdefault(entity, len(numbers)) for entity in chain(sources, targets)),
        np.int64,
        len(sources) + len(targets),
    )
    entities = list(numbers)
    for seed in SEEDS:
        hashes = hashed(entities, seed)
        if len(np.unique(hashes)) == len(entities):
            of_ends = hashes[ends]
            return of_ends[: len(sources)], of_ends[len(sources) :], Dictionary(entities, hashes)
    raise HashCollision(f"sources and targets: names share a hash with each of {len(SEEDS)} seeds")
