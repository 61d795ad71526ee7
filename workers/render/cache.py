"""A least-recently-used cache, limited in bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from shared.telemetry.observer import NULL_OBSERVER, Cache, Observer, count_lookup

Value = TypeVar("Value")


class SizedCache(Generic[Value]):
    """Holds the most recently used values, up to `max_bytes` in total."""

    def __init__(self, name: Cache, *, max_bytes: int, watch: Observer = NULL_OBSERVER) -> None:
        self._name = name
        self._watch = watch
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, tuple[Value, int]] = OrderedDict()

    def get(self, key: str, make: Callable[[], tuple[Value, int]]) -> Value:
        """Return the value of a key, calling `make` for the value and its size if it is not cached.

        Values larger than the whole cache are not cached.
        """
        count_lookup(self._watch, self._name, is_hit=key in self._kept)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][0]
        value, size = make()
        if size <= self._max_bytes:
            self._kept[key] = (value, size)
            self._bytes += size
            self._shrink()
        return value

    def _shrink(self) -> None:
        while self._bytes > self._max_bytes:
            _, (_, size) = self._kept.popitem(last=False)
            self._bytes -= size
