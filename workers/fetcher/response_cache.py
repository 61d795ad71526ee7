"""The cache of fetched responses by account, limited in bytes, and in time by what RFC 9111 calls fresh."""

from __future__ import annotations

import os
import re
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import BinaryIO, Final, NamedTuple, cast

from shared.clock import ticks
from shared.limits import MB
from shared.outbound import CachingInfo, TargetUnreachableError

_IN_MEMORY: Final = 1 * MB
_CHUNK_BYTES: Final = 256 * 1024


class SharedBody:
    """A body that several threads may read at once; it is freed with its last reference."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        """Read `size` bytes from the beginning of a file; the caller closes the file."""
        self.size: Final = size
        self._data = b""
        self._descriptor = -1
        file.seek(0)
        if size <= _IN_MEMORY:
            self._data = file.read(size)
        else:
            self._descriptor = os.dup(file.fileno())
            weakref.finalize(self, os.close, self._descriptor)

    def read_chunks(self) -> Iterator[bytes]:
        """Yield the body in chunks."""
        if self._descriptor < 0:
            yield self._data
            return
        at = 0
        while at < self.size and (chunk := os.pread(self._descriptor, _CHUNK_BYTES, at)):
            at += len(chunk)
            yield chunk


def open_spool() -> BinaryIO:
    """Open a temporary file for a download, in memory while it is small."""
    return cast("BinaryIO", tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))


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
    """A cache entry: the result, and the end of its freshness."""

    response: FetchedResponse
    fresh_until: float


class ResponseCache:
    """A least-recently-used cache; thread-safe."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._entries: OrderedDict[CacheKey, CacheEntry] = OrderedDict()  # in order of use
        self._size = 0

    @property
    def size(self) -> int:
        """The size of the cache in bytes."""
        return self._size

    def find(self, key: CacheKey) -> CacheEntry | None:
        """Return an entry that is fresh, None if there is none."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or ticks() >= entry.fresh_until:
                return None
            self._entries.move_to_end(key)
            return entry

    def put(self, key: CacheKey, entry: CacheEntry) -> None:
        """Store an entry, replacing the old one; entries larger than the cache are not stored."""
        with self._lock:
            self._drop(key)
            if _cost(entry) > self._max_bytes:
                return
            self._entries[key] = entry
            self._size += _cost(entry)
            while self._size > self._max_bytes or len(self._entries) > _MAX_ENTRIES:
                self._drop(next(iter(self._entries)))

    def evict_stale(self) -> None:
        """Evict entries that may not be used any more."""
        with self._lock:
            for key in [
                key for key, entry in self._entries.items() if ticks() >= entry.fresh_until
            ]:
                self._drop(key)

    def _drop(self, key: CacheKey) -> None:
        if (entry := self._entries.pop(key, None)) is not None:
            self._size -= _cost(entry)


def _cost(entry: CacheEntry) -> int:
    return entry.response.size + _OVERHEAD_BYTES


# Heuristic freshness (RFC 9111, 4.2.2): long enough for the letterhead of a batch, short enough for its author
# to see a new version.
HEURISTIC_SECONDS: Final = 30.0
MAX_SECONDS: Final = 3600.0
# Short, since authors correct wrong URLs; long enough that a batch does not request one for each document.
FAILURE_SECONDS: Final = 5.0

_DIRECTIVE: Final = re.compile(r'([A-Za-z-]+)\s*(?:=\s*(?:"([^"]*)"|([^\s,]+)))?')
_HEURISTIC: Final = frozenset({200, 203, 301, 308})  # heuristically cacheable (RFC 9110, 15.1)


def read_lifetime(answers: Sequence[CachingInfo]) -> float | None:
    """Return the freshness lifetime of a response in seconds, None if it must not be reused.

    `answers` are the responses of a fetch, redirects included; the shortest lifetime applies.
    """
    lifetimes = [_read_one(answer) for answer in answers]
    known = [lifetime for lifetime in lifetimes if lifetime is not None]
    if not known or len(known) < len(lifetimes):
        return None
    return min(*known, MAX_SECONDS)


def _read_one(answer: CachingInfo) -> float | None:
    headers = answer.headers
    if "*" in headers.get("vary", ""):
        return None
    if "cache-control" not in headers and "no-cache" in headers.get("pragma", "").lower():
        return 0.0
    directives = {
        name.lower(): quoted or plain
        for name, quoted, plain in _DIRECTIVE.findall(headers.get("cache-control", ""))
    }
    if "no-store" in directives or "private" in directives:
        return None
    if "no-cache" in directives:
        return 0.0
    for name in ("s-maxage", "max-age"):
        if name in directives:
            return max(_read_seconds(directives[name]) - _read_seconds(headers.get("age", "")), 0.0)
    if "expires" in headers:
        return _read_expiry(headers)
    return HEURISTIC_SECONDS if answer.status in _HEURISTIC else None


def _read_seconds(text: str) -> float:
    """Parse a number of seconds; invalid values count as 0 (RFC 9111, 4.2.1)."""
    return float(text) if re.fullmatch(r"[0-9]{1,10}", text) else 0.0


def _read_expiry(headers: Mapping[str, str]) -> float:
    try:
        expires = parsedate_to_datetime(headers["expires"])
        date = parsedate_to_datetime(headers["date"])
        return max((expires - date).total_seconds() - _read_seconds(headers.get("age", "")), 0.0)
    except (KeyError, ValueError, TypeError, OverflowError):
        return 0.0
