"""From text to stable names: entities to their canonical form, verbs to stored relations.

Pure functions over two checked-in lexicon files; importing this package reads neither of them and
loads no model.
"""

from loom_core.canonical.entities import NAME_LIMIT, canonicalise
from loom_core.canonical.lexicon import LEXICON_VERSION
from loom_core.canonical.relations import normalise_relation
from loom_core.canonical.surface import surface_forms

__all__ = ["LEXICON_VERSION", "NAME_LIMIT", "canonicalise", "normalise_relation", "surface_forms"]
