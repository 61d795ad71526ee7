"""The metric values of one process in a memory-mapped file that other processes can read.

Counting costs no system call. Storage is allocated before it is mapped: writing to a mapped page without
storage would kill the process (SIGBUS) on a full disk. Until storage is available a value stays in memory.
Decision 0323.
"""

from __future__ import annotations

import math
import mmap
import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, MutableSequence
from contextlib import suppress
from json import dumps
from pathlib import Path
from struct import Struct
from threading import Lock
from typing import Final

from shared.clock import ticks
from shared.telemetry.metrics import Spec

SEGMENT_BYTES: Final = 64 * 1024
_WORD: Final = 8
_HEAD: Final = Struct("=q")  # of a segment: the bytes in use, including the head
_ENTRY: Final = Struct("=qd")  # the length of the key, and the value; the key follows
_RETRY_SECONDS: Final = 1.0


class Series:
    """The value of a counter or a gauge for one set of labels."""

    __slots__ = ("_lock", "at", "cells", "key", "value")

    def __init__(self, key: str, lock: Lock) -> None:
        self.key: Final = key
        self.start(lock)

    def start(self, lock: Lock) -> None:
        """Reset the value to 0, in memory."""
        self._lock = lock
        self.value = 0.0
        self.cells: MutableSequence[float] | memoryview[float] = array("d", [0.0])
        self.at = 0

    def inc(self, amount: float = 1.0) -> None:
        """Add an amount."""
        with self._lock:
            self.value += amount
            self.cells[self.at] = self.value


class HistogramValues:
    """The values of a histogram for one set of labels."""

    __slots__ = ("_bounds", "_buckets", "_sum")

    def __init__(
        self, bounds: tuple[float, ...], buckets: tuple[Series, ...], sum_: Series
    ) -> None:
        self._bounds = bounds
        self._buckets = buckets
        self._sum = sum_

    def observe(self, seconds: float) -> None:
        """Add a value."""
        self._sum.inc(seconds)
        self._buckets[bisect_left(self._bounds, seconds)].inc()


class MetricValues:
    """All series of this process; with a folder they are stored in a file named after the process.

    A forked child starts from 0 in a file of its own.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = Lock()
        self._series: dict[str, Series] = {}
        self._known: dict[tuple[str, ...], Series] = {}
        self._times: dict[tuple[str, ...], HistogramValues] = {}
        self._unflushed: list[Series] = []
        self._file: ValueFile | None = None
        self._retry_at = 0.0
        os.register_at_fork(after_in_child=self._reset_after_fork)

    def series(self, spec: Spec, *labels: str) -> Series:
        """Return the series of a counter or a gauge."""
        found = self._known.get((spec.name, *labels))
        if found is None:
            named = dict(zip(spec.labels, labels, strict=True))
            found = self._find(write_key(spec, spec.series[0], named))
            self._known[spec.name, *labels] = found
        return found

    def times(self, spec: Spec, *labels: str) -> HistogramValues:
        """Return the series of a histogram."""
        found = self._times.get((spec.name, *labels))
        if found is None:
            named = dict(zip(spec.labels, labels, strict=True))
            bucket, total, _ = spec.series
            buckets = tuple(
                self._find(write_key(spec, bucket, {**named, "le": str(bound)}))
                for bound in (*spec.buckets, math.inf)
            )
            found = HistogramValues(
                spec.buckets, buckets, self._find(write_key(spec, total, named))
            )
            self._times[spec.name, *labels] = found
        return found

    def flush(self) -> None:
        """Move values from memory to the file, if storage is available."""
        if self._folder is not None and self._unflushed and ticks() >= self._retry_at:
            with self._lock:
                self._flush_locked()

    def read_unflushed(self) -> dict[str, float]:
        """Return the values that are not in the file, by key."""
        with self._lock:
            return {series.key: series.value for series in self._unflushed}

    def _find(self, key: str) -> Series:
        with self._lock:
            found = self._series.get(key)
            if found is None:
                found = self._series[key] = Series(key, self._lock)
                self._unflushed.append(found)
                if ticks() >= self._retry_at:
                    self._flush_locked()
            return found

    def _flush_locked(self) -> None:
        if self._folder is None:
            return
        try:
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file = ValueFile(self._folder / value_file_name(os.getpid()))
            while self._unflushed:
                series = self._unflushed[-1]
                series.cells, series.at = self._file.add(series.key, series.value)
                self._unflushed.pop()
        except OSError:
            self._retry_at = ticks() + _RETRY_SECONDS

    def _reset_after_fork(self) -> None:
        # The lock may be held by a thread that does not exist after the fork.
        self._lock = Lock()
        self._file, self._retry_at = None, 0.0
        for series in self._series.values():
            series.start(self._lock)
        self._unflushed = list(self._series.values())


class ValueFile:
    """A file of values that grows by segments; storage is allocated before a segment is mapped."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self._segments = 0
        self._free_at = self._end = 0
        self._map: mmap.mmap | None = None

    def add(self, key: str, value: float) -> tuple[memoryview[float], int]:
        """Add a value; return its array and index.

        Raises:
            OSError: there is no storage, or the key is too long for a segment.
        """
        entry = write_entry(key, value)
        if self._free_at + len(entry) > self._end:
            self._grow(len(entry))
        segment = self._map
        assert segment is not None
        at, self._free_at = self._free_at, self._free_at + len(entry)
        segment[at : at + len(entry)] = entry
        # Concurrent readers see the entry only after the length is updated.
        cells = memoryview(segment).cast("q")
        cells[0] = self._free_at
        return memoryview(segment).cast("B").cast("d"), at // _WORD + 1

    def _grow(self, size: int) -> None:
        if size > SEGMENT_BYTES - _HEAD.size:
            raise OSError(f"the entry of {size} bytes is larger than a segment")
        start = self._segments * SEGMENT_BYTES
        os.posix_fallocate(self._descriptor, start, SEGMENT_BYTES)
        self._map = mmap.mmap(self._descriptor, SEGMENT_BYTES, offset=start)
        self._segments += 1
        self._free_at, self._end = _HEAD.size, SEGMENT_BYTES


def value_file_name(process: int | str) -> str:
    """Return the name of a process's file."""
    return f"{process}.counts"


def write_key(spec: Spec, name: str, labels: Mapping[str, str]) -> str:
    """Encode the key of a series: metric, series name and labels."""
    return dumps([spec.full_name, name, labels], sort_keys=True)


def write_entry(key: str, value: float) -> bytes:
    """Encode an entry of a file."""
    data = key.encode()
    return _ENTRY.pack(len(data), value) + data + bytes(-len(data) % _WORD)


def read_values(path: Path) -> Iterator[tuple[str, float]]:
    """Yield the keys and values of a file."""
    data = path.read_bytes()
    for start in range(0, len(data), SEGMENT_BYTES):
        segment = memoryview(data)[start : start + SEGMENT_BYTES]
        if len(segment) >= _HEAD.size:
            yield from _read_segment(segment)


def write_values(path: Path, counts: Mapping[str, float]) -> None:
    """Write a file of final values.

    Raises:
        OSError: there is no storage; a part may be written.
    """
    segments = [bytearray(_HEAD.size)]
    for key, value in counts.items():
        entry = write_entry(key, value)
        if len(segments[-1]) + len(entry) > SEGMENT_BYTES:
            segments.append(bytearray(_HEAD.size))
        segments[-1] += entry
    for segment in segments:
        _HEAD.pack_into(segment, 0, len(segment))
    path.write_bytes(b"".join(bytes(segment).ljust(SEGMENT_BYTES, b"\0") for segment in segments))


def _read_segment(segment: memoryview) -> Iterator[tuple[str, float]]:
    [used] = _HEAD.unpack_from(segment)
    at = _HEAD.size
    while at + _ENTRY.size <= min(used, len(segment)):
        length, value = _ENTRY.unpack_from(segment, at)
        at += _ENTRY.size
        if not 0 < length <= len(segment) - at:
            return
        with suppress(UnicodeDecodeError):
            yield bytes(segment[at : at + length]).decode(), value
        at += length + -length % _WORD
