"""Caches of what recurs: words and operators of documents, and short texts of templates.

Nearly all texts of a template in an editor are those of its text before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Final, ParamSpec, TypeVar, cast

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(dict[K, V]):
    """A dictionary that computes missing values and is cleared when it is full.

    A text longer than `max_length` is computed each time: lines seldom recur.
    """

    def __init__(
        self, compute: Callable[[K], V], *, max_entries: int = 10_000, max_length: int | None = None
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


# Of cached expressions and functions. Each character takes some 110 bytes in either: with the longest
# texts 28 MB of a process for each of the caches, with usual ones a quarter of that.
CACHED_TEXTS: Final = 1_000
MAX_CACHED_LENGTH: Final = 250

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def cache_short(
    measure: Callable[[Any], int],
    *,
    max_entries: int = CACHED_TEXTS,
    max_length: int = MAX_CACHED_LENGTH,
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Cache the results of a function for short texts; `measure` returns the characters of its first argument.

    That is given by position, and all arguments are hashable. What is longer than `max_length` is made
    each time.
    """

    def decorate(make: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        cached = cast("Callable[Arguments, Result]", lru_cache(maxsize=max_entries)(make))

        @wraps(make)
        def call(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
            is_short = measure(args[0]) <= max_length
            return (cached if is_short else make)(*args, **options)

        return call

    return decorate
