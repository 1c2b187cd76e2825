"""`memory.search` by text: the rows that have the query's words, rare words weighing more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loom_core.memory.rows import MemoryRow
from loom_core.search.live import first_live, pages
from loom_core.search.words import word_forms
from loom_core.storage.statements import sql
from loom_core.storage.store import Store
from loom_core.tenancy import Scope

ENTITY_BOOST = 2.0
"""How much more a row about an entity of `entity_filter` scores."""


@dataclass(frozen=True, slots=True)
class TextHit:
    """A row version that has some of the words."""

    memory_key: str
    memory_ids: tuple[str, ...]
    score: float


def search_text(
    store: Store, scope: Scope, query: str, about: Sequence[str], limit: int
) -> list[tuple[TextHit, MemoryRow]]:
    """The best `limit` live rows, by the rarity of the words they have, then newest, then by key.

    A word counts ln(1 + rows that match / rows with the word). `about`: entities whose rows score
    `ENTITY_BOOST` times as much. High-sensitivity rows have no words here.
    """
    ((tokens,),) = store.rows(sql("search.tokens"), query=query)
    words = word_forms(tokens)
    if not words:
        return []

    def fetch(offset: int, size: int) -> list[TextHit]:
        rows = store.rows(
            sql("search.text"),
            org=scope.org,
            namespace=scope.namespace,
            words=words,
            forms=sorted({form for forms in words for form in forms}),
            entities=list(about),
            boost=ENTITY_BOOST,
            offset=offset,
            limit=size,
        )
        return [TextHit(key, (memory_id,), score) for key, memory_id, _, _, score in rows]

    return first_live(store, scope, pages(fetch, limit), limit)
