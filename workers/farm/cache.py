"""A least-recently-used cache with a bound on the bytes it stands for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from shared.telemetry.watch import UNWATCHED, Cache, Watch

Value = TypeVar("Value")


class SizedCache(Generic[Value]):
    """Keeps the values last used, up to `max_bytes` by the sizes their makers gave."""

    def __init__(self, name: Cache, *, max_bytes: int, watch: Watch = UNWATCHED) -> None:
        self._name = name
        self._watch = watch
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, tuple[Value, int]] = OrderedDict()

    def get(self, key: str, make: Callable[[], tuple[Value, int]]) -> Value:
        """Give the value of a key, making it with its size when it is not kept.

        A value larger than the whole cache is given and not kept.
        """
        self._watch.count_look(self._name, is_hit=key in self._kept)
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
