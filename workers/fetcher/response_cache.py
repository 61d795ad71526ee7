"""The cache of fetched responses by account, limited in bytes and time."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Final, NamedTuple

from shared.clock import ticks
from shared.outbound import CachingInfo, TargetUnreachableError
from workers.fetcher.bodies import SharedBody

# Unused entries are evicted after this time, even if they could be revalidated.
MAX_UNUSED_SECONDS: Final = 3600.0
_MAX_ENTRIES: Final = 4096
# The memory of an entry besides its body.
_OVERHEAD_BYTES: Final = 4096


class CacheKey(NamedTuple):
    """Account and URL: accounts do not share entries, not even by timing."""

    account: str
    url: str


@dataclass(frozen=True, slots=True)
class FetchedResponse:
    """The result of a fetch: status and body, or the failure."""

    status: int
    body: SharedBody | None = None
    failure: TargetUnreachableError | None = None

    @property
    def size(self) -> int:
        """The size of the body in bytes."""
        return 0 if self.body is None else self.body.size


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A cache entry: the result, the end of its freshness, and its caching information."""

    response: FetchedResponse
    fresh_until: float
    caching_info: tuple[CachingInfo, ...] = ()

    @property
    def is_fresh(self) -> bool:
        """Whether it may be used without revalidation."""
        return ticks() < self.fresh_until


class ResponseCache:
    """A least-recently-used cache; thread-safe."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = Lock()
        # In order of use, with the time of the last use.
        self._entries: OrderedDict[CacheKey, tuple[CacheEntry, float]] = OrderedDict()
        self._size = 0

    @property
    def size(self) -> int:
        """The size of the cache in bytes."""
        return self._size

    def find(self, key: CacheKey) -> CacheEntry | None:
        """Return an entry, fresh or stale, None if there is none."""
        with self._lock:
            if key not in self._entries:
                return None
            entry, _ = self._entries[key]
            self._entries[key] = (entry, ticks())
            self._entries.move_to_end(key)
            return entry

    def put(self, key: CacheKey, entry: CacheEntry) -> None:
        """Store an entry, replacing the old one; entries larger than the cache are not stored."""
        with self._lock:
            self._drop(key)
            if _cost(entry) > self._max_bytes:
                return
            self._entries[key] = (entry, ticks())
            self._size += _cost(entry)
            while self._size > self._max_bytes or len(self._entries) > _MAX_ENTRIES:
                self._drop(next(iter(self._entries)))

    def drop(self, key: CacheKey) -> None:
        """Remove an entry."""
        with self._lock:
            self._drop(key)

    def evict_unused(self) -> None:
        """Evict entries that were not used for `MAX_UNUSED_SECONDS`."""
        with self._lock:
            since = ticks() - MAX_UNUSED_SECONDS
            while self._entries and next(iter(self._entries.values()))[1] < since:
                self._drop(next(iter(self._entries)))

    def _drop(self, key: CacheKey) -> None:
        if key in self._entries:
            entry, _ = self._entries.pop(key)
            self._size -= _cost(entry)


def _cost(entry: CacheEntry) -> int:
    return entry.response.size + _OVERHEAD_BYTES
