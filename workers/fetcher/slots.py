"""Slots for outbound requests, limited in total, by host and by account; the least served account is next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Final

MAX_REQUESTS: Final = 32
MAX_PER_HOST: Final = 8  # a server must not take the farm for an attack
MAX_PER_ACCOUNT: Final = 8
# One account must not occupy all slots of a slow host.
MAX_PER_ACCOUNT_AND_HOST: Final = 4
MAX_WAITING: Final = 256
MAX_WAITING_PER_ACCOUNT: Final = 64


class NoSlotError(Exception):
    """No slot was free in time, or too many requests are waiting."""


@dataclass(eq=False, slots=True)
class _SlotRequest:
    account: str
    host: str
    granted: Event = field(default_factory=Event)

    @property
    def limits(self) -> dict[tuple[str, ...], int]:
        """The limits that this slot counts against."""
        return {
            ("account", self.account): MAX_PER_ACCOUNT,
            ("host", self.host): MAX_PER_HOST,
            ("account at host", self.account, self.host): MAX_PER_ACCOUNT_AND_HOST,
        }


class Slots:
    """Grants slots to threads, fairly between accounts."""

    def __init__(self, *, at_once: int = MAX_REQUESTS) -> None:
        self._at_once = at_once
        self._lock = Lock()
        self._waiting: list[_SlotRequest] = []  # in the order they came
        self._under_way = 0
        self._held: Counter[tuple[str, ...]] = Counter()

    @contextmanager
    def acquire(self, account: str, host: str, *, patience_seconds: float) -> Iterator[None]:
        """Acquire a slot for the block.

        Raises:
            NoSlotError: no slot was free in time, or too many requests are waiting.
        """
        request = self._enqueue(account, host)
        if not request.granted.wait(patience_seconds) and not self._was_granted_late(request):
            raise NoSlotError
        try:
            yield
        finally:
            self._release(request)

    def count_under_way(self) -> int:
        """Return the number of slots in use."""
        return self._under_way

    def count_waiting(self) -> int:
        """Return the number of waiting requests."""
        return len(self._waiting)

    def _enqueue(self, account: str, host: str) -> _SlotRequest:
        request = _SlotRequest(account, host)
        with self._lock:
            of_account = sum(each.account == account for each in self._waiting)
            if len(self._waiting) >= MAX_WAITING or of_account >= MAX_WAITING_PER_ACCOUNT:
                raise NoSlotError
            self._waiting.append(request)
            self._grant()
        return request

    def _was_granted_late(self, request: _SlotRequest) -> bool:
        """Stop waiting; return True if the slot was granted at the last moment."""
        with self._lock:
            if request.granted.is_set():
                return True
            self._waiting.remove(request)
            return False

    def _release(self, request: _SlotRequest) -> None:
        with self._lock:
            self._under_way -= 1
            self._held.subtract(request.limits.keys())
            self._held += Counter()  # drops zero counts
            self._grant()

    def _grant(self) -> None:
        while self._under_way < self._at_once:
            fit = [request for request in self._waiting if self._is_within_limits(request)]
            if not fit:
                return
            request = min(fit, key=lambda each: self._held["account", each.account])
            self._waiting.remove(request)
            self._under_way += 1
            self._held.update(request.limits.keys())
            request.granted.set()

    def _is_within_limits(self, request: _SlotRequest) -> bool:
        return all(self._held[name] < most for name, most in request.limits.items())
