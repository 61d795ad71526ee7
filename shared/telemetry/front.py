"""Metrics of the front, summed over all its processes by files in a shared folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.registry import Collector

from shared.errors import ErrorBody, ErrorCode, ErrorKind
from shared.telemetry import metrics
from shared.telemetry.exposition import write_text
from shared.telemetry.registries import ClockSkews, Constants
from shared.telemetry.store_observer import Cache, Store
from shared.telemetry.value_files import MetricValues

_COUNTED: Final = (
    metrics.REQUESTS,
    metrics.REQUEST_SECONDS,
    metrics.IN_PROGRESS,
    metrics.ERRORS,
    metrics.REFUSALS,
    metrics.STORE_SECONDS,
    metrics.STORE_FAILURES,
    metrics.CACHE_REQUESTS,
)


class FrontMetrics:
    """The metrics of a front; with a folder, of all its processes. Implements `StoreObserver`.

    `connections` is the number of connections that all its processes accept at once.
    """

    def __init__(
        self,
        metrics_dir: str | None,
        *,
        connections: int = 0,
        read_skews: Callable[[], Mapping[str, float]] = dict,
    ) -> None:
        self._folder = None if metrics_dir is None else Path(metrics_dir)
        self._counts = MetricValues(self._folder)
        self._constants = Constants("front", [(metrics.CONNECTIONS, connections)])
        self._skews = ClockSkews(read_skews)
        self._in_progress = self._counts.series(metrics.IN_PROGRESS)

    def begin(self) -> None:
        """Count a request in progress."""
        self._counts.flush()
        self._in_progress.inc()

    def end(self) -> None:
        """Uncount a request in progress."""
        self._in_progress.inc(-1)

    def observe(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """Count a completed request; `route` is the URL rule, never the path with its ids."""
        self._counts.series(metrics.REQUESTS, route, method, str(status)).inc()
        status_class = f"{status // 100}xx"
        self._counts.times(metrics.REQUEST_SECONDS, route, method, status_class).observe(seconds)

    def count_error(self, body: ErrorBody) -> None:
        """Count an error response, and a refusal by rate or quota."""
        self._counts.series(metrics.ERRORS, body.kind.value).inc()
        if reason := _refused(body):
            self._counts.series(metrics.REFUSALS, reason).inc()

    def observe_store(self, store: Store, operation: str, seconds: float) -> None:
        """Record the duration of an operation of a store."""
        self._counts.times(metrics.STORE_SECONDS, store.value, operation).observe(seconds)

    def count_store_failure(self, store: Store, operation: str) -> None:
        """Count an operation that failed because of an outage."""
        self._counts.series(metrics.STORE_FAILURES, store.value, operation).inc()

    def count_cache_request(self, cache: Cache, *, is_hit: bool) -> None:
        """Count a cache lookup."""
        result = "hit" if is_hit else "miss"
        self._counts.series(metrics.CACHE_REQUESTS, cache.value, result).inc()

    def exposition(self) -> bytes:
        """Return the metrics of all the front's processes in the Prometheus text format."""
        self._counts.flush()
        counted = write_text(self._folder, _COUNTED, in_memory=self._counts.read_unflushed())
        return counted.encode() + generate_latest(_only(self._constants, self._skews))


def _only(*collectors: Collector) -> CollectorRegistry:
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
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
