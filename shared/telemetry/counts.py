"""The numbers of one process, in a file that any other process can read while they change.

A number is a place in a mapped file, so to count costs no system call. Storage for a place is
allocated before the place is written: writing to a mapped place without storage kills the process
(SIGBUS) when the disk is full. Until there is storage a number stays in memory. Decision 0211.
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
_HEAD: Final = Struct("=q")  # of a segment: the bytes in use, itself included
_ENTRY: Final = Struct("=qd")  # the length of the key, and the number; the key follows
_RETRY_SECONDS: Final = 1.0


class Series:
    """A number that grows, or a live one that goes up and down."""

    __slots__ = ("_lock", "at", "cells", "key", "value")

    def __init__(self, key: str, lock: Lock) -> None:
        self.key: Final = key
        self.start(lock)

    def start(self, lock: Lock) -> None:
        """Begin at 0, in the memory of this process."""
        self._lock = lock
        self.value = 0.0
        self.cells: MutableSequence[float] | memoryview[float] = array("d", [0.0])
        self.at = 0

    def inc(self, amount: float = 1.0) -> None:
        """Add to the number."""
        with self._lock:
            self.value += amount
            self.cells[self.at] = self.value


class Times:
    """The series of a histogram for one set of labels."""

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


class Counts:
    """All series of this process. With a folder they are in a file there, named by the process.

    A process that is forked from this one counts from 0, in a file of its own.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = Lock()
        self._series: dict[str, Series] = {}
        self._known: dict[tuple[str, ...], Series] = {}
        self._times: dict[tuple[str, ...], Times] = {}
        self._in_memory: list[Series] = []
        self._file: CountsFile | None = None
        self._retry_at = 0.0
        os.register_at_fork(after_in_child=self._start_again)

    def series(self, spec: Spec, *labels: str) -> Series:
        """Return the series of a counter or a gauge."""
        found = self._known.get((spec.name, *labels))
        if found is None:
            named = dict(zip(spec.labels, labels, strict=True))
            found = self._find(write_key(spec, spec.series[0], named))
            self._known[spec.name, *labels] = found
        return found

    def times(self, spec: Spec, *labels: str) -> Times:
        """Return the series of a histogram."""
        found = self._times.get((spec.name, *labels))
        if found is None:
            named = dict(zip(spec.labels, labels, strict=True))
            bucket, total, _ = spec.series
            buckets = tuple(
                self._find(write_key(spec, bucket, {**named, "le": str(bound)}))
                for bound in (*spec.buckets, math.inf)
            )
            found = Times(spec.buckets, buckets, self._find(write_key(spec, total, named)))
            self._times[spec.name, *labels] = found
        return found

    def catch_up(self) -> None:
        """Move numbers that are in memory into the file, if there is storage for them by now."""
        if self._folder is not None and self._in_memory and ticks() >= self._retry_at:
            with self._lock:
                self._place()

    def read_memory(self) -> dict[str, float]:
        """Return the numbers that are in no file, by key."""
        with self._lock:
            return {series.key: series.value for series in self._in_memory}

    def _find(self, key: str) -> Series:
        with self._lock:
            found = self._series.get(key)
            if found is None:
                found = self._series[key] = Series(key, self._lock)
                self._in_memory.append(found)
                if ticks() >= self._retry_at:
                    self._place()
            return found

    def _place(self) -> None:
        if self._folder is None:
            return
        try:
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file = CountsFile(self._folder / name_file(os.getpid()))
            while self._in_memory:
                series = self._in_memory[-1]
                series.cells, series.at = self._file.add(series.key, series.value)
                self._in_memory.pop()
        except OSError:
            self._retry_at = ticks() + _RETRY_SECONDS

    def _start_again(self) -> None:
        # The lock may be held by a thread that this process does not have.
        self._lock = Lock()
        self._file, self._retry_at = None, 0.0
        for series in self._series.values():
            series.start(self._lock)
        self._in_memory = list(self._series.values())


class CountsFile:
    """A file of numbers, which grows by segments; each has its storage before it is mapped."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self._segments = 0
        self._free_at = self._end = 0
        self._map: mmap.mmap | None = None

    def add(self, key: str, value: float) -> tuple[memoryview[float], int]:
        """Add a number; return where it is.

        Raises:
            OSError: there is no storage for it, or its key is too long for any segment.
        """
        entry = write_entry(key, value)
        if self._free_at + len(entry) > self._end:
            self._grow(len(entry))
        segment = self._map
        assert segment is not None
        at, self._free_at = self._free_at, self._free_at + len(entry)
        segment[at : at + len(entry)] = entry
        # Who reads meanwhile sees the whole entry or nothing of it.
        cells = memoryview(segment).cast("q")
        cells[0] = self._free_at
        return memoryview(segment).cast("B").cast("d"), at // _WORD + 1

    def _grow(self, size: int) -> None:
        if size > SEGMENT_BYTES - _HEAD.size:
            raise OSError(f"a number with a key of {size} bytes")
        start = self._segments * SEGMENT_BYTES
        os.posix_fallocate(self._descriptor, start, SEGMENT_BYTES)
        self._map = mmap.mmap(self._descriptor, SEGMENT_BYTES, offset=start)
        self._segments += 1
        self._free_at, self._end = _HEAD.size, SEGMENT_BYTES


def name_file(process: int | str) -> str:
    """Return the name of the file of a process."""
    return f"{process}.counts"


def write_key(spec: Spec, name: str, labels: Mapping[str, str]) -> str:
    """Write the name of a series: its metric, its own name and its labels."""
    return dumps([spec.full_name, name, labels], sort_keys=True)


def write_entry(key: str, value: float) -> bytes:
    """Write a number as it is in a file."""
    data = key.encode()
    return _ENTRY.pack(len(data), value) + data + bytes(-len(data) % _WORD)


def read_counts(path: Path) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a file, by key."""
    data = path.read_bytes()
    for start in range(0, len(data), SEGMENT_BYTES):
        segment = memoryview(data)[start : start + SEGMENT_BYTES]
        if len(segment) >= _HEAD.size:
            yield from _read_segment(segment)


def write_counts(path: Path, counts: Mapping[str, float]) -> None:
    """Write a file of numbers that no longer change.

    Raises:
        OSError: there is no storage for it; a part of it may be there.
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
