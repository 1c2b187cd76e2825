"""What Linux offers a parent: children that end with it, and orphans that come to it. Elsewhere, nothing."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Collection

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _find_prctl() -> Callable[[int, int], int]:
    if sys.platform != "linux":
        return lambda _option, _argument: 0
    function: Callable[[int, int], int] = ctypes.CDLL(None, use_errno=True).prctl
    return function


_prctl = _find_prctl()  # looked up here: nothing may be loaded between fork and exec


def end_with(parent: int) -> Callable[[], None]:
    """What a child runs between fork and exec: it gets SIGTERM when `parent` dies."""

    def prepare() -> None:
        # The parent's handler is inherited until exec, and would swallow the signal.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)  # it died before that

    return prepare


def adopt_orphans() -> None:
    """Processes whose parent dies become this one's children, not init's, which a container may not have."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def reap_orphans(own: Collection[int]) -> None:
    """Take note of the end of every child except those with the process ids `own`, which others wait for."""
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if ended is None or ended.si_pid in own:
            return
        os.waitpid(ended.si_pid, 0)
