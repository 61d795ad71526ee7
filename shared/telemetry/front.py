"""Metrics of the front, summed over all its processes by files in a shared folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from shared.errors import ErrorBody, ErrorCode, ErrorKind
from shared.telemetry import metrics
from shared.telemetry.registries import ClockSkews, Constants, make_counter, make_histogram
from shared.telemetry.store_observer import Cache, Store


class FrontMetrics:
    """The metrics of a front, of all its processes where they share a folder. Implements `StoreObserver`.

    The folder is `PROMETHEUS_MULTIPROC_DIR` of the environment, as `prometheus_client` reads it. `connections`
    is the number of connections that all its processes accept at once.
    """

    def __init__(
        self, *, connections: int = 0, read_skews: Callable[[], Mapping[str, float]] = dict
    ) -> None:
        counted = self._counted = CollectorRegistry()
        self._constant = _only(
            Constants("front", [(metrics.CONNECTIONS, connections)]), ClockSkews(read_skews)
        )
        self._requests = make_counter(metrics.REQUESTS, counted)
        self._request_seconds = make_histogram(metrics.REQUEST_SECONDS, counted)
        self._in_progress = Gauge(
            metrics.IN_PROGRESS.full_name,
            metrics.IN_PROGRESS.text,
            registry=counted,
            multiprocess_mode="livesum",
        )
        self._errors = make_counter(metrics.ERRORS, counted)
        self._refusals = make_counter(metrics.REFUSALS, counted)
        self._store_seconds = make_histogram(metrics.STORE_SECONDS, counted)
        self._store_failures = make_counter(metrics.STORE_FAILURES, counted)
        self._cache_requests = make_counter(metrics.CACHE_REQUESTS, counted)

    def begin(self) -> None:
        """Count a request in progress."""
        self._in_progress.inc()

    def end(self) -> None:
        """Uncount a request in progress."""
        self._in_progress.dec()

    def observe(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """Count a completed request; `route` is the URL rule, never the path with its ids."""
        self._requests.labels(route, method, str(status)).inc()
        self._request_seconds.labels(route, method, f"{status // 100}xx").observe(seconds)

    def count_error(self, body: ErrorBody) -> None:
        """Count an error response, and a refusal by rate or quota."""
        self._errors.labels(body.kind.value).inc()
        if reason := _refused(body):
            self._refusals.labels(reason).inc()

    def observe_store(self, store: Store, operation: str, seconds: float) -> None:
        """Record the duration of an operation of a store."""
        self._store_seconds.labels(store.value, operation).observe(seconds)

    def count_store_failure(self, store: Store, operation: str) -> None:
        """Count an operation that failed because of an outage."""
        self._store_failures.labels(store.value, operation).inc()

    def count_cache_request(self, cache: Cache, *, is_hit: bool) -> None:
        """Count a cache lookup."""
        self._cache_requests.labels(cache.value, "hit" if is_hit else "miss").inc()

    def exposition(self) -> bytes:
        """Return the metrics of all the front's processes in the Prometheus text format."""
        counted = self._counted
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            counted = CollectorRegistry()
            MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
        return generate_latest(counted) + generate_latest(self._constant)


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
