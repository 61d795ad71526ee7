"""A cache of what recurs in the texts of documents: words, numbers and their patterns."""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import TypeVar

K = TypeVar("K", bound=Sized)
V = TypeVar("V")


class BoundedCache(dict[K, V]):
    """A dictionary that computes missing values and is cleared when it is full.

    A key longer than `max_length` is computed each time: lines seldom recur.
    """

    def __init__(self, compute: Callable[[K], V], *, max_entries: int, max_length: int) -> None:
        super().__init__()
        self._compute = compute
        self._max_entries = max_entries
        self._max_length = max_length

    def __missing__(self, key: K) -> V:
        found = self._compute(key)
        if len(key) <= self._max_length:
            if len(self) >= self._max_entries:
                self.clear()
            self[key] = found
        return found
