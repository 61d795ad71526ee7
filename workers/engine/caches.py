"""A cache of what recurs in documents: words, numbers and their patterns, operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(dict[K, V]):
    """A dictionary that computes missing values and is cleared when it is full.

    A text longer than `max_length` is computed each time: lines seldom recur.
    """

    def __init__(
        self,
        compute: Callable[[K], V],
        *,
        max_entries: int = 10_000,
        max_length: int | None = None,
    ) -> None:
        super().__init__()
        self._compute = compute
        self._max_entries = max_entries
        self._max_length = max_length

    def __missing__(self, key: K) -> V:
        found, text = self._compute(key), cast("Any", key)
        if self._max_length is None or len(text) <= self._max_length:
            if len(self) >= self._max_entries:
                self.clear()
            self[key] = found
        return found
