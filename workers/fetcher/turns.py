"""Turns for going out: so many at once, of one host, and of one account; the least served is next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Final

AT_ONCE: Final = 32
OF_HOST: Final = 8  # a server must not take the farm for an attack
OF_ACCOUNT: Final = 8
# One account's slow pages of a server must not shut others out of the same server.
OF_ACCOUNT_AT_HOST: Final = 4
_WAITING: Final = 256
_WAITING_OF_ACCOUNT: Final = 64


class NoTurnError(Exception):
    """There was none in time, or too many wait for one already."""


@dataclass(eq=False, slots=True)
class _Turn:
    account: str
    host: str
    granted: Event = field(default_factory=Event)

    @property
    def bounds(self) -> dict[tuple[str, ...], int]:
        """Give what this turn counts towards, and how many of each there may be."""
        return {
            ("account", self.account): OF_ACCOUNT,
            ("host", self.host): OF_HOST,
            ("account at host", self.account, self.host): OF_ACCOUNT_AT_HOST,
        }


class Turns:
    """Grants turns to threads, fairly between accounts."""

    def __init__(self, *, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._lock = Lock()
        self._waiting: list[_Turn] = []  # in the order they came
        self._under_way = 0
        self._held: Counter[tuple[str, ...]] = Counter()

    @contextmanager
    def take(self, account: str, host: str, *, patience_seconds: float) -> Iterator[None]:
        """Hold a turn within the block.

        Raises:
            NoTurnError: none came in time, or too many wait already.
        """
        turn = self._ask(account, host)
        if not turn.granted.wait(patience_seconds) and not self._came_at_last(turn):
            raise NoTurnError
        try:
            yield
        finally:
            self._give_back(turn)

    def count_under_way(self) -> int:
        """Tell how many turns are held."""
        return self._under_way

    def count_waiting(self) -> int:
        """Tell how many wait for a turn."""
        return len(self._waiting)

    def _ask(self, account: str, host: str) -> _Turn:
        turn = _Turn(account, host)
        with self._lock:
            of_account = sum(each.account == account for each in self._waiting)
            if len(self._waiting) >= _WAITING or of_account >= _WAITING_OF_ACCOUNT:
                raise NoTurnError
            self._waiting.append(turn)
            self._grant()
        return turn

    def _came_at_last(self, turn: _Turn) -> bool:
        """Stop waiting, unless the turn came at the last moment; tell whether it did."""
        with self._lock:
            if turn.granted.is_set():
                return True
            self._waiting.remove(turn)
            return False

    def _give_back(self, turn: _Turn) -> None:
        with self._lock:
            self._under_way -= 1
            self._held.subtract(turn.bounds.keys())
            self._held += Counter()  # without those that nobody holds
            self._grant()

    def _grant(self) -> None:
        while self._under_way < self._at_once:
            fit = [turn for turn in self._waiting if self._is_fit(turn)]
            if not fit:
                return
            turn = min(fit, key=lambda each: self._held["account", each.account])
            self._waiting.remove(turn)
            self._under_way += 1
            self._held.update(turn.bounds.keys())
            turn.granted.set()

    def _is_fit(self, turn: _Turn) -> bool:
        return all(self._held[name] < most for name, most in turn.bounds.items())
