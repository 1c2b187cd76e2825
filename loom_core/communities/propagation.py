"""Label propagation with a queue, after Traag and Šubelj, "Large network community detection by fast label
propagation", Scientific Reports 13 (2023)."""

import numpy as np
from numpy.typing import NDArray

from loom_core.communities.compiled import compiled
from loom_core.communities.graph import Graph, Weights


def propagate(graph: Graph, labels: NDArray[np.int32], start: NDArray[np.int32]) -> int:
    """Move entities to the label that weighs most among their neighbours until none would gain; count moves.

    `labels` is int32[n], changed in place: the id of the entity a label is named after, or -1 for an entity
    that takes no part. `start` is int32[k]: the entities to look at first, each once, none of label -1.

    It always ends: a move needs a strict gain and weights are integers, so each move adds at least 1 to the
    weight inside communities, and there are no more moves than the edges weigh (in practice two an entity;
    only weights that rise all along a chain come near). The queue is worked off in rounds, each in id
    order: rows then come from memory in sequence, worth a third of the time at a million entities.
    """
    longest_row = int(np.diff(graph.offsets).max(where=labels >= 0, initial=0))
    return _propagate(
        graph.offsets, graph.neighbours, graph.weights, graph.hashes, labels, start, longest_row
    )


@compiled
def _in_id_order(queue: NDArray[np.int32], slack: NDArray[np.int64]) -> NDArray[np.int32]:
    if len(queue) < len(slack) // 32:
        return np.sort(queue)
    ordered = np.empty(len(queue), np.int32)
    k = 0
    for entity in range(len(slack)):
        if slack[entity] < 0:
            ordered[k] = entity
            k += 1
    return ordered


@compiled
def _table_size(row_length: int) -> int:
    """A power of two, so that a row fills at most half of the table."""
    size = 4
    while size < 2 * row_length:
        size *= 2
    return size


@compiled
def _weigh(
    row_labels: NDArray[np.int32],
    edge_weights: Weights,
    own: int,
    slot_label: NDArray[np.int32],
    slot_weight: NDArray[np.int64],
    taken: NDArray[np.int32],
) -> tuple[np.int64, int]:
    """Add up a row's weights by label in the table; the weight of its own label, and how many others."""
    last_slot = _table_size(len(edge_weights)) - 1
    own_weight = np.int64(0)
    met = 0
    for k in range(len(edge_weights)):
        label = row_labels[k]
        if label < 0:
            continue
        if label == own:
            own_weight += edge_weights[k]
            continue
        slot = ((np.int64(label) * np.int64(0x9E3779B1)) >> 16) & last_slot
        while slot_label[slot] >= 0 and slot_label[slot] != label:
            slot = (slot + 1) & last_slot
        if slot_label[slot] < 0:
            slot_label[slot] = label
            taken[met] = slot
            met += 1
        slot_weight[slot] += edge_weights[k]
    return own_weight, met


@compiled
def _heaviest(
    own_weight: np.int64,
    taken: NDArray[np.int32],
    slot_label: NDArray[np.int32],
    slot_weight: NDArray[np.int64],
    best_labels: NDArray[np.int32],
) -> tuple[int, np.int64]:
    """Empty the table into the labels that weigh most, if more than its own: how many, and their lead."""
    best_weight = own_weight
    second_weight = np.int64(0)
    ties = 0
    for slot in taken:
        label, weight = slot_label[slot], slot_weight[slot]
        slot_label[slot] = -1
        slot_weight[slot] = 0
        if weight > best_weight:
            second_weight = best_weight
            best_weight = weight
            best_labels[0] = label
            ties = 1
        else:
            second_weight = max(second_weight, weight)
            if weight == best_weight and ties > 0:
                best_labels[ties] = label
                ties += 1
    return ties, best_weight - second_weight


@compiled
def _break_tie(
    tied: NDArray[np.int32], hashes: NDArray[np.uint64], entity_name: np.uint64, names: NDArray[np.uint64]
) -> np.int32:
    """The label whose name, hashed with the entity's, comes out largest.

    No label wins all of its ties: one that did (the smallest, say) would flood the graph.
    """
    for k in range(len(tied)):
        names[k] = hashes[tied[k]]
    entity_name *= np.uint64(0x9E3779B97F4A7C15)
    best: np.int32 = tied[0]
    best_tie = np.uint64(0)
    for k in range(len(tied)):
        tie = names[k] ^ entity_name
        tie = (tie ^ (tie >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        tie = (tie ^ (tie >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        tie = tie ^ (tie >> np.uint64(31))
        if tie >= best_tie:
            best_tie = tie
            best = tied[k]
    return best


@compiled
def _wake(
    near: NDArray[np.int32],
    edge_weights: Weights,
    row_labels: NDArray[np.int32],
    old: int,
    new: int,
    slack: NDArray[np.int64],
    upcoming: NDArray[np.int32],
    waiting: int,
) -> int:
    """Queue the neighbours that may move now that an entity went from label `old` to `new`."""
    for k in range(len(near)):
        left, label = slack[near[k]], row_labels[k]
        if left < 0 or label < 0:
            continue
        weight = np.int64(edge_weights[k])
        if label == new:
            left += weight
        elif label == old:
            left -= 2 * weight
        else:
            left -= weight
        if left < 0:
            left = -1
            upcoming[waiting] = near[k]
            waiting += 1
        slack[near[k]] = left
    return waiting


@compiled
def _propagate(
    offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    weights: Weights,
    hashes: NDArray[np.uint64],
    labels: NDArray[np.int32],
    start: NDArray[np.int32],
    longest_row: int,
) -> int:
    count = len(labels)
    # By how much the neighbours may change before an entity could move; -1 while it waits in the queue.
    slack = np.zeros(count, np.int64)
    slack[start] = -1
    upcoming = np.empty(count, np.int32)
    upcoming[: len(start)] = start
    waiting = len(start)

    # A hash table for the labels of one row, small enough for the processor's nearest cache.
    slot_label = np.full(_table_size(longest_row), -1, np.int32)
    slot_weight = np.zeros(_table_size(longest_row), np.int64)
    taken = np.empty(longest_row + 1, np.int32)
    best_labels = np.empty(longest_row + 1, np.int32)
    row_labels = np.empty(longest_row + 1, np.int32)
    tied_names = np.empty(longest_row + 1, np.uint64)

    moves = 0
    while waiting > 0:
        current = _in_id_order(upcoming[:waiting], slack)
        waiting = 0
        for entity in current:
            row = slice(offsets[entity], offsets[entity + 1])
            near, edge_weights = neighbours[row], weights[row]
            for k in range(len(near)):
                row_labels[k] = labels[near[k]]
            own = labels[entity]
            own_weight, met = _weigh(row_labels, edge_weights, own, slot_label, slot_weight, taken)
            ties, slack[entity] = _heaviest(own_weight, taken[:met], slot_label, slot_weight, best_labels)
            if ties == 0:
                continue
            best = best_labels[0]
            if ties > 1:
                best = _break_tie(best_labels[:ties], hashes, hashes[entity], tied_names)
            labels[entity] = best
            moves += 1
            waiting = _wake(near, edge_weights, row_labels, own, best, slack, upcoming, waiting)
    return moves
