"""Slots of a service for what it does at once, granted fairly between accounts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Final

MAX_WAITING: Final = 256
MAX_WAITING_PER_ACCOUNT: Final = 64
_ALL: Final = ("all",)


class NoSlotError(Exception):
    """No slot was free in time, or too many requests are waiting."""


@dataclass(eq=False, slots=True)
class _SlotRequest:
    account: str
    limits: Mapping[tuple[str, ...], int]
    granted: Event = field(default_factory=Event)


class Slots:
    """Grants slots to threads: of those that may have one, to that of the account that has the fewest."""

    def __init__(self, *, at_once: int) -> None:
        self._at_once = at_once
        self._lock = Lock()
        self._waiting: list[_SlotRequest] = []  # in the order they came
        self._held: Counter[tuple[str, ...]] = Counter()

    @contextmanager
    def acquire(
        self, account: str, limits: Mapping[tuple[str, ...], int], *, patience_seconds: float
    ) -> Iterator[None]:
        """Acquire a slot for the block, which counts against limits: that of the account and others, by name.

        Raises:
            NoSlotError: no slot was free in time, or too many requests are waiting.
        """
        request = _SlotRequest(account, {**limits, _ALL: self._at_once})
        self._enqueue(request)
        if not request.granted.wait(patience_seconds) and not self._was_granted_late(request):
            raise NoSlotError
        try:
            yield
        finally:
            self._release(request)

    def count_under_way(self) -> int:
        """Return the number of slots in use."""
        return self._held[_ALL]

    def count_waiting(self) -> int:
        """Return the number of waiting requests."""
        return len(self._waiting)

    def _enqueue(self, request: _SlotRequest) -> None:
        with self._lock:
            of_account = sum(each.account == request.account for each in self._waiting)
            if len(self._waiting) >= MAX_WAITING or of_account >= MAX_WAITING_PER_ACCOUNT:
                raise NoSlotError
            self._waiting.append(request)
            self._grant()

    def _was_granted_late(self, request: _SlotRequest) -> bool:
        """Stop waiting; return True if the slot was granted at the last moment."""
        with self._lock:
            if request.granted.is_set():
                return True
            self._waiting.remove(request)
            return False

    def _release(self, request: _SlotRequest) -> None:
        with self._lock:
            self._held.subtract(request.limits.keys())
            self._held += Counter()  # drops zero counts
            self._grant()

    def _grant(self) -> None:
        while fit := [request for request in self._waiting if self._is_within_limits(request)]:
            request = min(fit, key=lambda each: self._held["account", each.account])
            self._waiting.remove(request)
            self._held.update(request.limits.keys())
            request.granted.set()

    def _is_within_limits(self, request: _SlotRequest) -> bool:
        return all(self._held[name] < most for name, most in request.limits.items())
