"""Whether a failed try is worth another, and when: a pure decision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

RETRYABLE_4XX = frozenset({408, 429})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Full jitter: a wait is drawn between 0 and a bound that doubles from `base_s` up to `cap_s` seconds."""

    attempts: int = 5
    base_s: float = 0.2
    cap_s: float = 5.0
    patience_s: float = 60.0
    """The longest Retry-After that is waited out; a server that asks for more gets no further try."""

    def wait_s(
        self, attempt: int, status: int | None, retry_after_s: float | None, draw: Callable[[], float]
    ) -> float | None:
        """Seconds to wait before the next try, or None to give up.

        `attempt` counts from 1. `status` is None where no answer came: connection errors and timeouts are
        tried again, as are 408, 429 and 5xx. `draw` gives a number in [0, 1). A Retry-After is waited out in
        full, with up to a tenth more, so that callers told the same second do not all come back in it.
        """
        again = status is None or status >= 500 or status in RETRYABLE_4XX
        if not again or attempt >= self.attempts:
            return None
        if retry_after_s is not None:
            return retry_after_s * (1 + draw() / 10) if retry_after_s <= self.patience_s else None
        bound: float = min(self.cap_s, self.base_s * 2 ** (attempt - 1))
        return bound * draw()
