"""What the front counts, over all its processes, in files of a folder they share."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from struct import Struct
from threading import Event, Lock
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, values

from shared.errors import ErrorBody, ErrorCode, ErrorKind
from shared.telemetry import metrics
from shared.telemetry.files import write_text
from shared.telemetry.registries import Constants, make_counter, make_histogram, make_live_gauge
from shared.telemetry.watch import Cache, Store


class FrontMetrics:
    """What one front counts, over all its processes when they share a folder; a `Watch`.

    Make it once per process tree, before any other metric of `prometheus_client` in it. `threads`
    is how many requests all its processes can hold.
    """

    def __init__(self, metrics_dir: str | None, *, threads: int = 0) -> None:
        self._metrics_dir = metrics_dir
        if metrics_dir is not None:
            # The library reads the folder from here, and chooses its kind of value at import.
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = metrics_dir
            Path(metrics_dir).mkdir(parents=True, exist_ok=True)
            values.ValueClass = _make_values()
        self._registry = CollectorRegistry()
        self._constants = Constants("front", [(metrics.THREADS, threads)])
        self._requests = make_counter(metrics.REQUESTS, self._registry)
        self._seconds = make_histogram(metrics.REQUEST_SECONDS, self._registry)
        self._in_progress = make_live_gauge(metrics.IN_PROGRESS, self._registry)
        self._errors = make_counter(metrics.ERRORS, self._registry)
        self._refusals = make_counter(metrics.REFUSALS, self._registry)
        self._store_seconds = make_histogram(metrics.STORE_SECONDS, self._registry)
        self._store_failures = make_counter(metrics.STORE_FAILURES, self._registry)
        self._looks = make_counter(metrics.CACHE_LOOKS, self._registry)
        # The series of each set of labels, which come from closed sets, found once.
        self._answers = cache(self._find_answers)
        self._look = cache(self._find_look)

    def begin(self) -> None:
        """Note that a request holds a thread from now on."""
        self._in_progress.inc()

    def end(self) -> None:
        """Note that a request lets its thread go."""
        self._in_progress.dec()

    def observe(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """Count one answered request; `route` is the rule, never the path with its ids."""
        count, times = self._answers(route, method, status)
        count.inc()
        times.observe(seconds)

    def count_error(self, body: ErrorBody) -> None:
        """Count one answer with the error body, and what it refused."""
        self._errors.labels(body.kind.value).inc()
        if reason := _refused(body):
            self._refusals.labels(reason).inc()

    def time_store(self, store: Store, operation: str, seconds: float) -> None:
        """Note one piece of work of a store."""
        self._store_seconds.labels(store.value, operation).observe(seconds)

    def count_failure(self, store: Store, operation: str) -> None:
        """Note that a store was away."""
        self._store_failures.labels(store.value, operation).inc()

    def count_look(self, cache: Cache, *, is_hit: bool) -> None:
        """Note one look into a cache."""
        self._look(cache, is_hit).inc()

    def _find_answers(self, route: str, method: str, status: int) -> tuple[Counter, Histogram]:
        counted = self._requests.labels(route, method, str(status))
        return counted, self._seconds.labels(route, method, f"{status // 100}xx")

    def _find_look(self, cache: Cache, is_hit: bool) -> Counter:
        return self._looks.labels(cache.value, "hit" if is_hit else "miss")

    def exposition(self) -> bytes:
        """Write the metrics of all the front's processes as Prometheus text."""
        constants = generate_latest(_only(self._constants))
        if self._metrics_dir is None:
            return generate_latest(self._registry) + constants
        return write_text(Path(self._metrics_dir)).encode() + constants


def _make_values() -> type:
    """Make the library's kind of value, with an increment that is written in one step."""
    kind: Any = values.MultiProcessValue()  # type: ignore[no-untyped-call]
    write, lock = Struct("d").pack_into, Lock()
    is_forked = Event()
    os.register_at_fork(after_in_child=is_forked.set)

    class Value(kind):  # type: ignore[misc] # the library has no types
        def inc(self, amount: float) -> None:
            if is_forked.is_set():  # each process has files of its own
                super().inc(amount)
                return
            with lock:
                self._value += amount
                file = self._file
                write(file._m, file._positions[self._key], self._value)

    return Value


def _only(constants: Constants) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(constants)
    return registry


def _refused(body: ErrorBody) -> str | None:
    match body.kind, body.code:
        case ErrorKind.RATE, _:
            return "rate"
        case ErrorKind.QUOTA, ErrorCode.QUOTA_EXCEEDED:
            return "pages"
        case ErrorKind.QUOTA, ErrorCode.DRAFT_QUOTA_EXCEEDED:
            return "draft_pages"
        case ErrorKind.QUOTA, _:
            return "storage"
        case _:
            return None
