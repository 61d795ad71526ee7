"""What the fetcher exports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Final

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

from shared.telemetry import metrics
from shared.telemetry.registries import Constants, make_counter, make_histogram, write_gauge


class Look(StrEnum):
    """Where an ask is answered from. `passed` asks for what lies there now."""

    HIT = "hit"
    REVALIDATED = "revalidated"
    MISS = "miss"
    PASSED = "passed"


class FetchOutcome(StrEnum):
    """What became of a way out. `answered` is by a status without bytes, as 304 and 404 are."""

    FETCHED = "fetched"
    ANSWERED = "answered"
    UNREACHABLE = "unreachable"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    BUSY = "busy"
    FAILED = "failed"


class FetcherMetrics(Collector):
    """The metrics of one fetcher; what it holds now is asked at each scrape."""

    def __init__(
        self,
        *,
        count_under_way: Callable[[], int],
        count_waiting: Callable[[], int],
        measure_kept: Callable[[], int],
    ) -> None:
        self.registry: Final = CollectorRegistry()
        self._live = {
            metrics.FETCHES_IN_PROGRESS: count_under_way,
            metrics.FETCHES_WAITING: count_waiting,
            metrics.FETCHER_KEPT_BYTES: measure_kept,
        }
        self._fetches = make_counter(metrics.FETCHES, self.registry)
        self._looks = make_counter(metrics.FETCHER_LOOKS, self.registry)
        self._seconds = make_histogram(metrics.FETCH_SECONDS, self.registry)
        for outcome in FetchOutcome:
            self._fetches.labels(outcome.value)
        for look in Look:
            self._looks.labels(look.value)
        self.registry.register(Constants("fetcher"))
        self.registry.register(self)

    def count_look(self, look: Look) -> None:
        """Count where an ask was answered from."""
        self._looks.labels(look.value).inc()

    def count_fetch(self, outcome: FetchOutcome, seconds: float) -> None:
        """Count a way out, and the time it took where somebody was asked."""
        self._fetches.labels(outcome.value).inc()
        if outcome not in (FetchOutcome.BUSY, FetchOutcome.REFUSED):
            self._seconds.observe(seconds)

    def collect(self) -> Iterator[Metric]:
        """Give what is held now."""
        for spec, count in self._live.items():
            yield write_gauge(spec, {(): count()})

    def describe(self) -> Iterator[Metric]:
        """Give nothing: the families are made at each scrape."""
        return iter(())
