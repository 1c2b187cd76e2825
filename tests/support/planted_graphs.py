"""Graphs whose communities are known, and how close a partition comes to them."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Edges = list[tuple[str, str, int]]


class PlantedGraph(NamedTuple):
    """Edges between the entities 0 … n - 1, and hubs, which have the numbers from n on."""

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    weights: NDArray[np.int64]
    truth: NDArray[np.int64]
    """[n] the community each entity was planted in."""


def clique(names: Iterable[str], weight: int = 1) -> Edges:
    return [(a, b, weight) for a, b in combinations(names, 2)]


def columns(edges: Edges) -> tuple[list[str], list[str], list[int]]:
    return [a for a, _, _ in edges], [b for _, b, _ in edges], [w for _, _, w in edges]


def topic_graph(
    entities: int,
    *,
    topics: int,
    memories: int,
    noise: float = 0.1,
    hubs: float = 0.0,
    half_generic: bool = False,
    topics_a_theme: int = 1,
    seed: int = 1,
) -> PlantedGraph:
    """Entities that share memories: each memory names 2 to 6 entities of its topic, and some by chance.

    A `noise` share of the mentions is of any entity; where themes hold several topics, 0.2 of them stay in
    the memory's theme. `hubs` generic tokens a hundred entities and so on: hub i is in 0.4 / (i + 1) of the
    memories, half-generic ones as often in memories of one topic (as far as it has that many) as in others.
    """
    random = np.random.default_rng(seed)
    truth = np.arange(entities) * topics // entities
    start = np.searchsorted(truth, np.arange(topics))
    size = np.bincount(truth, minlength=topics)
    topic = random.integers(0, topics, memories)
    memory = np.repeat(np.arange(memories), random.integers(2, 7, memories))
    mentioned = topic[memory]
    if topics_a_theme > 1:
        strays = random.random(len(memory)) < 0.2
        theme = mentioned // topics_a_theme * topics_a_theme
        sibling = np.minimum(theme + random.integers(0, topics_a_theme, len(memory)), topics - 1)
        mentioned = np.where(strays, sibling, mentioned)
    entity = start[mentioned] + (random.random(len(memory)) * size[mentioned]).astype(np.int64)
    entity = np.where(random.random(len(memory)) < noise, random.integers(0, entities, len(memory)), entity)
    mentions = [(memory, entity)]
    for hub in range(int(entities * hubs)):
        of_hub = np.flatnonzero(random.random(memories) < 0.4 / (hub + 1))
        if half_generic:
            own = np.flatnonzero(topic == random.integers(0, topics))[: len(of_hub)]
            of_hub = np.union1d(random.permutation(of_hub)[: len(own)], own)
        mentions.append((of_hub, np.full(len(of_hub), entities + hub)))
    sources, targets = _pairs(*(np.concatenate(part) for part in zip(*mentions, strict=True)))
    return PlantedGraph(sources, targets, np.ones(len(sources), np.int64), truth)


def _pairs(
    memory: NDArray[np.int64], entity: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of different entities of one memory."""
    order = np.argsort(memory, kind="stable")
    memory, entity = memory[order], entity[order]
    sources, targets = [], []
    apart = 1
    while (together := memory[apart:] == memory[:-apart]).any():
        sources.append(entity[:-apart][together])
        targets.append(entity[apart:][together])
        apart += 1
    a, b = np.concatenate(sources), np.concatenate(targets)
    return a[a != b], b[a != b]


def lfr_graph(
    entities: int,
    *,
    degree: int,
    max_degree: int,
    smallest: int,
    largest: int,
    mixing: float = 0.5,
    seed: int = 1,
) -> PlantedGraph:
    """Lancichinetti, Fortunato and Radicchi's benchmark, by NetworKit's generator."""
    import networkit

    networkit.setSeed(seed, False)
    generator = networkit.generators.LFRGenerator(entities)
    generator.generatePowerlawDegreeSequence(degree, max_degree, -2)
    generator.generatePowerlawCommunitySizeSequence(smallest, largest, -1)
    generator.setMu(mixing)
    graph = generator.generate()
    ends = np.array(list(graph.iterEdges()), np.int64)
    truth = np.array(generator.getPartition().getVector(), np.int64)
    return PlantedGraph(ends[:, 0], ends[:, 1], np.ones(len(ends), np.int64), truth)


def agreement(labels: Mapping[int, int], truth: NDArray[np.int64]) -> float:
    """Normalised mutual information over the entities of `truth`; one without a label is alone."""
    alone = len(labels)
    found = np.array([labels.get(entity, alone + entity) for entity in range(len(truth))])
    return normalised_mutual_information(found, truth)


def normalised_mutual_information(a: NDArray[np.int64], b: NDArray[np.int64]) -> float:
    """2 I(a; b) / (H(a) + H(b)), with natural logarithms."""
    _, a = np.unique(a, return_inverse=True)
    _, b = np.unique(b, return_inverse=True)
    both = a.astype(np.int64) * (b.max() + 1) + b
    h_a, h_b, h_both = (_entropy(part) for part in (a, b, both))
    return 2 * (h_a + h_b - h_both) / (h_a + h_b)


def _entropy(part: NDArray[np.int64]) -> float:
    share = np.unique(part, return_counts=True)[1] / len(part)
    return float(-(share * np.log(share)).sum())
