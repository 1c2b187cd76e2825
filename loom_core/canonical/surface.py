"""The ways a canonical name may stand in a text."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import inflect


def surface_forms(canonical: str) -> tuple[str, ...]:
    """The canonical name and, where it differs, its plural: what to look for in a folded text.

    `canonical` is a result of `canonicalise`. An entity counts as named by a text when one of these
    occurs in it (D24's `extracted`).
    """
    plural = _engine().plural_noun(canonical)
    return (canonical,) if not plural or plural == canonical else (canonical, plural)


@cache
def _engine() -> "inflect.engine":
    # Imported on first use: it takes longer to load than the rest of the package together.
    import inflect

    return inflect.engine()
