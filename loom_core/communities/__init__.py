"""Communities of entities: arrays in, labels out.

Needs the extra `communities` (numpy and numba), which no other part of the core imports.
"""

from loom_core.communities.building import EdgeBatch, HashCollision, build_graph
from loom_core.communities.detection import Communities, detect
from loom_core.communities.graph import Graph
from loom_core.communities.hubs import NameOrder
from loom_core.communities.names import hash_names
from loom_core.communities.numbering import Level
from loom_core.communities.partitioning import ArrayPartition, Progress, detect_arrays, partition
from loom_core.communities.precompiling import precompile
from loom_core.communities.search import DropRule
from loom_core.communities.tuning import Outcome, TailPoint, degree_tail, what_if

__all__ = [
    "ArrayPartition",
    "Communities",
    "DropRule",
    "EdgeBatch",
    "Graph",
    "HashCollision",
    "Level",
    "NameOrder",
    "Outcome",
    "Progress",
    "TailPoint",
    "build_graph",
    "degree_tail",
    "detect",
    "detect_arrays",
    "hash_names",
    "partition",
    "precompile",
    "what_if",
]
