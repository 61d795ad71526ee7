"""What the keeper exports: its repairs, and what is on its way in the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

from shared.errors import Unavailable
from shared.telemetry import metrics
from shared.telemetry.registries import ClockSkews, Constants, make_counter, write_gauge


class KeeperMetrics(Collector):
    """The metrics of one keeper; `count_unfinished` is asked at each scrape."""

    def __init__(
        self,
        duties: Sequence[str],
        *,
        count_unfinished: Callable[[], int],
        read_skews: Callable[[], Mapping[str, float]] = dict,
    ) -> None:
        self.registry: Final = CollectorRegistry()
        self._count_unfinished = count_unfinished
        self._repairs = make_counter(metrics.KEEPER_REPAIRS, self.registry)
        self._failures = make_counter(metrics.KEEPER_FAILURES, self.registry)
        for duty in duties:
            self._repairs.labels(duty)
            self._failures.labels(duty)
        self.registry.register(Constants("keeper"))
        self.registry.register(ClockSkews(read_skews))
        self.registry.register(self)

    def count_repairs(self, duty: str, number: int) -> None:
        """Count what a round repaired."""
        self._repairs.labels(duty).inc(number)

    def count_failure(self, duty: str) -> None:
        """Count a round that failed."""
        self._failures.labels(duty).inc()

    def collect(self) -> Iterator[Metric]:
        """Give what is read at the scrape; nothing of it while the database is away."""
        try:
            unfinished = self._count_unfinished()
        except Unavailable:
            return
        yield write_gauge(metrics.JOBS_UNFINISHED, {(): unfinished})

    def describe(self) -> Iterator[Metric]:
        """Give nothing: registering must not ask the database."""
        return iter(())
