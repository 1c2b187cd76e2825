"""The forms a canonical name may take in a text."""

from __future__ import annotations

from functools import lru_cache

from loom_core.canonical.entities import canonicalise
from loom_core.canonical.heads import plural_candidates


@lru_cache(maxsize=65_536)
def surface_forms(canonical: str) -> tuple[str, ...]:
    """`canonical` and its plurals, folded, the name itself first: what to look for to ground it (D24).

    `canonical` is a result of `canonicalise`. Only such plurals count whose canonical form is the name
    again: `index` has `indexes` and `indices`, `kubernetes` has none. They come from the lexicon read
    backwards, and where it knows none from inflect, which pluralises any word, names included: so it is
    held to the same rule.
    """
    plurals = [form for form in plural_candidates(canonical) if canonicalise(form) == canonical]
    if not plurals and canonical[-1:].isalpha() and canonical.isascii():
        from loom_core.canonical.inflecting import ENGINE

        proposed = ENGINE.plural_noun(canonical)
        plurals = [proposed] if proposed and canonicalise(proposed) == canonical else []
    return tuple(dict.fromkeys((canonical, *plurals)))
