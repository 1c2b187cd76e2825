"""The forms a canonical name may take in a text."""

from loom_core.canonical.entities import canonicalise
from loom_core.canonical.heads import plural_candidates


def surface_forms(canonical: str) -> tuple[str, ...]:
    """`canonical` and its plurals, folded, the name itself first: what to look for to ground it (D24).

    `canonical` is a result of `canonicalise`. Only such plurals count whose canonical form is the name
    again: `index` has `indexes` and `indices`, `kubernetes` has none. They come from the lexicon read
    backwards; the inflect package would take two seconds to load and give `kuberneteses`.
    """
    plurals = (form for form in plural_candidates(canonical) if canonicalise(form) == canonical)
    return tuple(dict.fromkeys((canonical, *plurals)))
