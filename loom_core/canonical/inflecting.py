"""inflect's engine, for whoever first needs it: this module is not imported before.

inflect checks the types of its methods' arguments at run time; setting those checks up takes each process 4 s of
CPU, for arguments that mypy has checked. They are left out while it is imported.
"""

from __future__ import annotations

import typeguard

_typechecked = typeguard.typechecked
typeguard.typechecked = lambda method: method  # type: ignore[assignment]
try:
    import inflect
finally:
    typeguard.typechecked = _typechecked

ENGINE = inflect.engine()
