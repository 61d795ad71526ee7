"""A limit of concurrent jobs per account."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from shared.errors import ErrorCode, ErrorKind, ServiceError

_RETRY_SECONDS: Final = 5


class ConcurrencyLimit:
    """A semaphore per account for the jobs in flight in this process.

    `refusal` is the error message after a timeout; `{at_once}` in it is replaced by the limit.
    """

    def __init__(self, at_once: int, refusal: str) -> None:
        self._at_once = at_once
        self._refusal = refusal
        self._changed = threading.Condition()
        self._held: Counter[str] = Counter()

    @contextmanager
    def acquire(self, account_id: str, *, seconds: float) -> Iterator[None]:
        """Acquire a slot of the account for the block.

        Raises:
            ServiceError: 429 with `Retry-After`, no slot was free in time.
        """
        with self._changed:
            is_free = self._changed.wait_for(
                lambda: self._held[account_id] < self._at_once, timeout=seconds
            )
            if not is_free:
                raise self._too_many()
            self._held[account_id] += 1
        try:
            yield
        finally:
            with self._changed:
                self._held[account_id] -= 1
                if not self._held[account_id]:
                    del self._held[account_id]
                self._changed.notify_all()

    def _too_many(self) -> ServiceError:
        return ServiceError(
            429,
            f"{self._refusal.format(at_once=self._at_once)} Try again in {_RETRY_SECONDS} s.",
            kind=ErrorKind.RATE,
            code=ErrorCode.RATE_LIMITED,
            headers={"Retry-After": str(_RETRY_SECONDS)},
        )
