"""The one place that turns a Python loop into machine code."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(loop: Loop) -> Loop:
    """Compile `loop` at its first call for each set of array types, and keep the code on disk.

    The code is kept in `NUMBA_CACHE_DIR`, else beside the module, so a fleet compiles once and not once a
    process. The loop runs without the interpreter's lock: a worker's heartbeat thread keeps beating while a
    large graph is propagated.

    A loop calls only loops of its own module: numba does not compile a cached caller again when a callee in
    another file changes.
    """
    return cast(Loop, njit(cache=True, nogil=True)(loop))
