"""Metrics of the fetcher."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Final

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

from shared.telemetry import metrics
from shared.telemetry.registries import Constants, make_counter, make_histogram, write_gauge


class CacheResult(StrEnum):
    """The cache result of a fetch request; `passed` requests bypass the cache."""

    HIT = "hit"
    REVALIDATED = "revalidated"
    MISS = "miss"
    BYPASSED = "passed"


class FetchOutcome(StrEnum):
    """The outcome of an outbound request; `answered` is a status without a body, such as 304 or 404."""

    FETCHED = "fetched"
    ANSWERED = "answered"
    UNREACHABLE = "unreachable"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    BUSY = "busy"
    FAILED = "failed"


class FetcherMetrics(Collector):
    """The metrics of a fetcher; gauges are read at each scrape."""

    def __init__(
        self,
        *,
        count_under_way: Callable[[], int],
        count_waiting: Callable[[], int],
        measure_cache: Callable[[], int],
    ) -> None:
        self.registry: Final = CollectorRegistry()
        self._live = {
            metrics.FETCHES_IN_PROGRESS: count_under_way,
            metrics.FETCHES_WAITING: count_waiting,
            metrics.FETCHER_CACHE_BYTES: measure_cache,
        }
        self._fetches = make_counter(metrics.FETCHES, self.registry)
        self._cache_results = make_counter(metrics.FETCHER_CACHE_REQUESTS, self.registry)
        self._seconds = make_histogram(metrics.FETCH_SECONDS, self.registry)
        for outcome in FetchOutcome:
            self._fetches.labels(outcome.value)
        for result in CacheResult:
            self._cache_results.labels(result.value)
        self.registry.register(Constants("fetcher"))
        self.registry.register(self)

    def count_cache_result(self, result: CacheResult) -> None:
        """Count a request by its cache result."""
        self._cache_results.labels(result.value).inc()

    def count_fetch(self, outcome: FetchOutcome, seconds: float) -> None:
        """Count an outbound request, and its time if it was sent."""
        self._fetches.labels(outcome.value).inc()
        if outcome not in (FetchOutcome.BUSY, FetchOutcome.REFUSED):
            self._seconds.observe(seconds)

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges."""
        for spec, count in self._live.items():
            yield write_gauge(spec, {(): count()})

    def describe(self) -> Iterator[Metric]:
        """Return no metrics: they are created at each scrape."""
        return iter(())
