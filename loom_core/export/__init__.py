"""The graph as a file: GraphML and JSON-LD, written in bounded memory, the same bytes for the same data."""

from loom_core.export.graphml import write_graphml
from loom_core.export.jsonld import write_jsonld

__all__ = ["write_graphml", "write_jsonld"]
